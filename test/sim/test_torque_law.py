"""The joint torque of the engine is the PD law for any state, gear and limit."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import joint_command

# Attributes of the motor, and the torque range at the joint that follows from them.
CHAIN = {
    "unlimited": ('gear="1"', (-np.inf, np.inf)),
    "geared": ('gear="120" ctrlrange="-1 1"', (-120.0, 120.0)),
    "reversed": ('gear="-25" ctrlrange="-3 1"', (-25.0, 75.0)),
    "fine": ('gear="0.02" ctrlrange="-400 500"', (-8.0, 10.0)),
    "force_range": ('gear="10" forcerange="-1.5 1.25"', (-15.0, 12.5)),
    "joint_range": ('gear="50"', (-7.0, 9.0)),
}
NAMES = tuple(CHAIN)
LOW, HIGH = np.array([limits for _, limits in CHAIN.values()]).T


def chain(integrator: str) -> str:
    """A chain of alternately revolute and prismatic joints with dynamic coupling."""
    bodies = ends = ""
    for i, name in enumerate(NAMES):
        kind = "slide" if i % 3 == 2 else "hinge"
        own = ' actuatorfrcrange="-7 9"' if name == "joint_range" else ""
        bodies += f'''<body pos="0.2 0 0.1">
          <joint name="{name}" type="{kind}" axis="0.3 {1 - i % 2} {i % 2}" armature="0.1"{own}/>
          <geom type="capsule" fromto="0 0 0 0.2 0 0.1" size="0.03" mass="{1 + i}"
            contype="0" conaffinity="0"/>'''
        ends += "</body>"
    motors = "".join(
        f'<motor name="{name}" joint="{name}" {attributes}/>'
        for name, (attributes, _) in CHAIN.items()
    )
    return f"""
    <mujoco>
      <option timestep="0.001" integrator="{integrator}"/>
      <worldbody>{bodies}{ends}</worldbody>
      <actuator>{motors}</actuator>
    </mujoco>"""


KP = np.array([300.0, 800.0, 50.0, 1200.0, 0.0, 90.0])
KD = np.array([5.0, 20.0, 0.0, 3.0, 2.0, 1.5])
GAINS = {name: (p, d) for name, p, d in zip(NAMES, KP.tolist(), KD.tolist(), strict=True)}


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_the_torque_is_the_pd_law_of_the_command(simulate, integrator):
    simulation = simulate(chain(integrator), gains=GAINS)
    (control,) = simulation.controls
    rng = np.random.default_rng(11)
    seen = np.zeros((3, len(NAMES)), dtype=int)
    for size in np.geomspace(1e-3, 3.0, 400):
        q, dq = rng.normal(size=(2, 6))
        q_ref, dq_ref, tau = q + size * rng.normal(size=6), *rng.normal(size=(2, 6)) * 5
        simulation.data.qpos[:], simulation.data.qvel[:] = q, dq
        fields = (q_ref.tolist(), dq_ref.tolist(), tau.tolist())
        control.reset()
        control.reset_hold.release()
        command = joint_command(control.joints, "clamp", NAMES, fields)
        control.command(CommandSource.JOINT_COMMANDS, command, simulation.data.time)
        assert simulation.step()
        law = KP * (q_ref - q) + KD * (dq_ref - dq) + tau
        torque = simulation.sample.qfrc_actuator
        np.testing.assert_allclose(torque, np.clip(law, LOW, HIGH), rtol=1e-12, atol=1e-9)
        seen += [law < LOW, (law > LOW) & (law < HIGH), law > HIGH]
    assert (seen[:, 1:] > 10).all(), "every limit was reached, on both sides, and left alone"


@pytest.mark.parametrize("scene", ["humanoid", "quadruped", "arm"])
def test_the_law_holds_for_every_motor_of_the_shipped_robots(shipped, scene):
    simulation = shipped(scene)
    model, data, joints = simulation.model, simulation.data, simulation.joints
    servos = simulation.drives.servo_joints
    assert len(servos) > 5
    rng = np.random.default_rng(7)
    actuators = {model.actuator_trnid[i, 0]: i for i in range(model.nactuator)}
    rows = [actuators[joint] for joint in joints.ids[servos]]
    limits = np.array(
        [model.actuator_forcerange[i] * abs(model.actuator_gear[i, 0]) for i in rows]
    ).T
    kp, kd = simulation.drives.kp[servos], simulation.drives.kd[servos]
    references = simulation.references
    for _ in range(50):
        data.qpos[joints.qpos] += 0.2 * rng.normal(size=len(joints.names))
        data.qvel[:] = rng.normal(size=model.nv)
        references.values[:] = rng.normal(size=references.values.shape)
        simulation.drives.write(references, data.ctrl)
        mujoco.mj_forward(model, data)
        q, dq = data.qpos[joints.qpos][servos], data.qvel[joints.dof][servos]
        law = kp * (references.q[servos] - q) + kd * (references.dq[servos] - dq)
        law += references.tau[servos]
        torque = data.qfrc_actuator[joints.dof][servos]
        np.testing.assert_allclose(torque, np.clip(law, *limits), rtol=1e-12, atol=1e-9)
