from copy import copy

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits, Payload
from mujoco_ros.model.errors import UserInputError

MOTION = np.array([[0.5, -1.0, 0.3, 0.8, -0.2, 1.0], [3.0, -2.0, 1.0, 5.0, -4.0, 2.0]])


def test_torques_are_equal_to_those_of_the_engine(arm, home):
    torques = Dynamics(arm).torques(home, *MOTION)
    data = mujoco.MjData(arm.model)
    data.qpos[arm.qpos], data.qvel[arm.dof] = home, MOTION[0]
    mujoco.mj_forward(arm.model, data)
    fingers = data.qacc.copy()
    fingers[arm.dof] = MOTION[1]
    data.qacc[:] = fingers
    mujoco.mj_inverse(arm.model, data)
    ours = Dynamics(arm).torques(home, *MOTION)
    # the fingers fall in the engine, and rest here
    assert ours == pytest.approx(data.qfrc_inverse[arm.dof], rel=0.02, abs=0.05)
    data.qacc[:] = 0.0
    data.qacc[arm.dof] = MOTION[1]
    mujoco.mj_inverse(arm.model, data)
    assert torques == pytest.approx(data.qfrc_inverse[arm.dof], abs=1e-9)


def test_a_payload_loads_the_joints_by_its_lever(arm, home):
    payload = Payload(mass=0.3, com=np.array([0.01, 0.02, 0.03]))
    more = Dynamics(arm, payload).gravity(home) - Dynamics(arm).gravity(home)
    kinematics = Kinematics(arm)
    lever = kinematics.pose(home).matrix @ payload.com
    weight = np.array([0.0, 0.0, 0.3 * 9.81])
    wrench = np.concatenate([weight, np.cross(lever, weight)])
    assert more == pytest.approx(kinematics.jacobian(home).T @ wrench, abs=1e-9)


def test_a_payload_has_the_inertia_of_the_same_mass_in_the_hand(arm, home):
    loaded = copy(arm.model)
    body = int(loaded.site_bodyid[arm.site])
    own, extra = float(loaded.body_mass[body]), 0.4
    at, centre = loaded.site_pos[arm.site].copy(), loaded.body_ipos[body].copy()
    middle = (own * centre + extra * at) / (own + extra)
    # the gripper's axes are those of its inertia, and the mass lies on one of them
    for mass, offset in ((own, centre - middle), (extra, at - middle)):
        loaded.body_inertia[body] += mass * (offset @ offset - offset**2)
    loaded.body_mass[body], loaded.body_ipos[body] = own + extra, middle
    data = mujoco.MjData(loaded)
    mujoco.mj_setConst(loaded, data)
    data.qpos[arm.qpos], data.qvel[arm.dof], data.qacc[arm.dof] = home, *MOTION
    loaded.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    mujoco.mj_inverse(loaded, data)
    payload = Payload(mass=extra, com=np.zeros(3))
    assert Dynamics(arm, payload).torques(home, *MOTION) == pytest.approx(
        data.qfrc_inverse[arm.dof], abs=1e-9
    )


def inertia(chain, q):
    """Return the joint-space inertia, rotors included."""
    model, data = chain.model, mujoco.MjData(chain.model)
    data.qpos[chain.qpos], full = q, np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, full)
    return full[np.ix_(chain.dof, chain.dof)]


def test_torques_change_with_acceleration_by_the_inertia(arm, home):
    dynamics, still = Dynamics(arm), np.zeros(6)
    more = dynamics.torques(home, still, MOTION[1]) - dynamics.gravity(home)
    assert more == pytest.approx(inertia(arm, home) @ MOTION[1])


def test_rigid_torques_exclude_friction(arm, home):
    dynamics = Dynamics(arm)
    missing = dynamics.torques(home, *MOTION) - dynamics.rigid(home, *MOTION)
    assert missing == pytest.approx(dynamics.friction * MOTION[0])


@pytest.mark.parametrize("wrong", [-0.1, np.nan, np.inf])
def test_a_payload_without_a_valid_mass_is_rejected(wrong):
    with pytest.raises(UserInputError, match="a payload is"):
        Payload(mass=wrong, com=np.zeros(3))


def test_gravity_compensation_of_the_model_is_subtracted():
    model = mujoco.MjModel.from_xml_string("""
      <mujoco><worldbody><body gravcomp="0.75"><joint name="j" axis="0 1 0" damping="0.5"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0" mass="2"/>
        <site name="tool" pos="0.5 0 0"/></body></worldbody></mujoco>""")
    lever = Dynamics(Chain.of(model, joints=["j"], tool="tool"))
    q, dq = np.zeros(1), np.ones(1)
    weight = -0.25 * 2.0 * 9.81 * 0.25  # a negative rotation about y lifts a mass on the x axis
    assert lever.gravity(q) == pytest.approx(weight)
    assert lever.rigid(q, dq, q) == pytest.approx(weight)
    assert lever.torques(q, dq, q) == pytest.approx(weight + 0.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"velocity": np.zeros(6)}, "velocity must be more than 0"),
        ({"acceleration": np.full(6, np.nan)}, "acceleration must be more than 0"),
        ({"torque": np.full(6, -1.0)}, "torque must be more than 0"),
        ({"velocity": np.ones(5)}, "velocity: expected 6 numbers"),
    ],
)
def test_limits_that_are_not_positive_or_of_other_joints_are_rejected(wrong, message):
    with pytest.raises(UserInputError, match=message):
        MotionLimits(**({"velocity": np.ones(6), "acceleration": np.ones(6)} | wrong)).check(6)


STILL = np.zeros(6)
SOFT = np.array([200.0] * 3 + [100.0] * 3)
SWING = np.array([0.2, -0.1, 0.1, 0.2, 0.2, 0.2])


def stepped(chain, q, law, *, seconds):
    """Step the engine with a control law of torques."""
    model, data = chain.model, mujoco.MjData(chain.model)
    data.qpos[chain.qpos] = q
    for _ in range(round(seconds / model.opt.timestep)):
        position, velocity = data.qpos[chain.qpos].copy(), data.qvel[chain.dof].copy()
        data.qfrc_applied[:] = 0.0
        data.qfrc_applied[chain.dof] += law(position, velocity)
        mujoco.mj_step(model, data)
    return data.qpos[chain.qpos].copy()


@pytest.fixture(scope="module")
def loaded(arm):
    """The arm with 300 g more in its hand."""
    model = copy(arm.model)
    body = int(model.site_bodyid[arm.site])
    model.body_mass[body] += 0.3
    return type(arm).of(model, joints=arm.names, tool=arm.tool)


def payload(chain):
    """The mass in the hand of `loaded`, at the gripper's centre."""
    at = chain.model.body_ipos[chain.model.site_bodyid[chain.site]]
    return Payload(mass=0.3, com=at - chain.model.site_pos[chain.site])


def damping(dynamics, q):
    """Return the critical damping of soft joints, without their friction."""
    return 2.0 * np.sqrt(SOFT * np.diag(inertia(dynamics.chain, q))) - dynamics.friction


def hold(dynamics, q):
    effort = dynamics.torques(q, STILL, STILL)
    return lambda now, rate: SOFT * (q - now) - damping(dynamics, q) * rate + effort


def test_soft_joints_hold_an_arm_with_a_known_payload(arm, loaded, home):
    known = stepped(loaded, home, hold(Dynamics(arm, payload(arm)), home), seconds=0.5)
    assert known == pytest.approx(home, abs=1e-4)
    unknown = stepped(loaded, home, hold(Dynamics(arm), home), seconds=0.5)
    assert np.abs(unknown - home).max() > 3e-3


def test_soft_joints_follow_a_motion_with_feedforward_torques(arm, home):
    dynamics, time, worst = Dynamics(arm), 0.0, 0.0
    damper = damping(dynamics, home)

    def law(now, rate):
        nonlocal time, worst
        phase = 2 * np.pi * time
        q = home + SWING * (1 - np.cos(phase))
        dq, ddq = 2 * np.pi * SWING * np.sin(phase), 4 * np.pi**2 * SWING * np.cos(phase)
        worst = max(worst, float(np.abs(q - now).max()))
        time += arm.model.opt.timestep
        return SOFT * (q - now) + damper * (dq - rate) + dynamics.torques(q, dq, ddq)

    stepped(arm, home, law, seconds=1.0)
    assert worst < 2e-3
