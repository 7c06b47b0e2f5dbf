from copy import copy

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.impedance import (
    CartesianImpedance,
    cartesian_damping,
    joint_damping,
    joint_references,
)
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.controllers.planning.kinematics.limits import Payload

STILL = np.zeros(6)
SOFT = np.array([200.0] * 3 + [100.0] * 3)
SWING = np.array([0.2, -0.1, 0.1, 0.2, 0.2, 0.2])
SPRING = np.array([100.0, 100.0, 2000.0, 100.0, 100.0, 100.0])


def stepped(chain, q, law, *, seconds, force=(0.0, 0.0, 0.0)):
    """Step the engine with a control law of torques, and a force at the tool's origin."""
    model, data = chain.model, mujoco.MjData(chain.model)
    data.qpos[chain.qpos] = q
    for _ in range(round(seconds / model.opt.timestep)):
        position, velocity = data.qpos[chain.qpos].copy(), data.qvel[chain.dof].copy()
        data.qfrc_applied[:] = 0.0
        mujoco.mj_applyFT(
            model,
            data,
            np.array(force),
            np.zeros(3),
            data.site_xpos[chain.site].copy(),
            int(model.site_bodyid[chain.site]),
            data.qfrc_applied,
        )
        data.qfrc_applied[chain.dof] += law(position, velocity)
        mujoco.mj_step(model, data)
    return data.qpos[chain.qpos].copy(), data.qvel[chain.dof].copy()


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


def hold(dynamics, q):
    damping = joint_damping(dynamics, q, SOFT)
    references = joint_references(dynamics, q, STILL, STILL)
    return lambda now, rate: SOFT * (references[0] - now) - damping * rate + references[2]


def test_soft_joints_hold_an_arm_with_a_known_payload(arm, loaded, home):
    known, _ = stepped(loaded, home, hold(Dynamics(arm, payload(arm)), home), seconds=0.5)
    assert known == pytest.approx(home, abs=1e-4)
    unknown, _ = stepped(loaded, home, hold(Dynamics(arm), home), seconds=0.5)
    assert np.abs(unknown - home).max() > 3e-3


def test_soft_joints_follow_a_motion_with_feedforward_torques(arm, home):
    dynamics = Dynamics(arm)
    damping, time, worst = joint_damping(dynamics, home, SOFT), 0.0, 0.0

    def law(now, rate):
        nonlocal time, worst
        phase = 2 * np.pi * time
        q = home + SWING * (1 - np.cos(phase))
        dq, ddq = 2 * np.pi * SWING * np.sin(phase), 4 * np.pi**2 * SWING * np.cos(phase)
        wanted = joint_references(dynamics, q, dq, ddq)
        worst = max(worst, float(np.abs(wanted[0] - now).max()))
        time += arm.model.opt.timestep
        return SOFT * (wanted[0] - now) + damping * (wanted[1] - rate) + wanted[2]

    stepped(arm, home, law, seconds=1.0)
    assert worst < 2e-3


@pytest.mark.parametrize(("axis", "force"), [(1, 4.0), (2, 20.0)], ids=["y", "z"])
def test_the_tool_yields_with_the_stiffness_of_each_axis(arm, home, axis, force):
    kinematics, dynamics = Kinematics(arm), Dynamics(arm)
    target = kinematics.pose(home)
    spring = CartesianImpedance(dynamics, SPRING, cartesian_damping(dynamics, home, SPRING, 0.5))
    push = target.matrix[:, axis] * force
    law = lambda q, dq: spring.torques(target, q, dq)  # noqa: E731
    q, dq = stepped(arm, home, law, seconds=1.5, force=push)
    moved = target.matrix.T @ (kinematics.pose(q).position - target.position)
    expected = np.zeros(3)
    expected[axis] = force / SPRING[axis]
    assert moved == pytest.approx(expected, abs=0.1 * expected[axis])
    assert np.abs(dq).max() < 0.02


def test_the_tool_follows_a_moving_target(arm, home):
    kinematics, dynamics = Kinematics(arm), Dynamics(arm)
    first = kinematics.pose(home)
    stiff = np.full(6, 2000.0)
    spring = CartesianImpedance(dynamics, stiff, cartesian_damping(dynamics, home, stiff))
    speed, time = np.array([0.0, 0.0, -0.1, 0.0, 0.0, 0.0]), 0.0

    def law(q, dq):
        nonlocal time
        time += arm.model.opt.timestep
        target = type(first)(position=first.position + speed[:3] * time, quat_wxyz=first.quat_wxyz)
        return spring.torques(target, q, dq, speed)

    q, _ = stepped(arm, home, law, seconds=1.0)
    assert kinematics.pose(q).position == pytest.approx(first.position + speed[:3], abs=2e-3)


def test_joint_damping_is_critical_for_each_joints_inertia(arm, home):
    dynamics = Dynamics(arm)
    inertia = np.diag(dynamics.inertia(home))
    damping = joint_damping(dynamics, home, SOFT) + dynamics.friction
    assert damping == pytest.approx(2.0 * np.sqrt(SOFT * inertia))
    assert (joint_damping(dynamics, home, np.zeros(6)) == 0.0).all()


def test_damping_from_a_singularity_is_stable_elsewhere(arm, home):
    straight = home.copy()
    straight[4] = 0.0  # the wrist's other axes are parallel
    dynamics = Dynamics(arm)
    target = Kinematics(arm).pose(home)
    spring = CartesianImpedance(dynamics, SPRING, cartesian_damping(dynamics, straight, SPRING))
    q, dq = stepped(arm, home, lambda q, dq: spring.torques(target, q, dq), seconds=0.3)
    assert q == pytest.approx(home, abs=1e-3)
    assert dq == pytest.approx(STILL, abs=1e-3)


def test_damping_of_the_tool_follows_its_inertia(arm, home):
    dynamics, kinematics = Dynamics(arm), Kinematics(arm)
    damping = cartesian_damping(dynamics, home, SPRING)
    axes = kinematics.pose(home).matrix
    jacobian = axes.T @ kinematics.jacobian(home)[:3]
    mobility = jacobian @ np.linalg.solve(dynamics.inertia(home), jacobian.T)
    least = 1.0 / np.diag(mobility)  # with the tool free to turn
    assert (damping[:3] ** 2 / (4 * SPRING[:3]) >= 0.99 * least).all()
