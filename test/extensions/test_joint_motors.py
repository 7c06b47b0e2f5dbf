"""Joints that an extension commands, with other gears and next to other actuators."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.extensions.joint_motors import JointMotors
from mujoco_ros.extensions.own_elements import OwnElements
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import scene_from_text
from mujoco_ros.sim.simulation import Simulation

ROBOT = """<mujoco model="r"><worldbody><body name="a"><joint name="a" axis="0 1 0"/>
<geom size=".1" pos=".3 0 0" mass="1"/><body name="b" pos=".5 0 0"><joint name="b" axis="0 1 0"/>
<geom size=".1" pos=".2 0 0" mass=".5"/><body name="c"><joint name="c" type="slide"/>
<geom size=".1" mass="1"/></body></body></body>
<body pos="0 2 0"><joint name="free"/><geom size=".1"/></body></worldbody><actuator>
<motor name="c" joint="c" gear="3"/><position name="b" joint="b" kp="70" gear="2"/>
<motor name="a" joint="a" gear="-4"/></actuator></mujoco>"""
SCENE = "robots: [{{name: r, model: {}}}]\nphysics: {{timestep: 0.001, gravity: [0, 0, 0]}}"


@pytest.fixture
def simulation(tmp_path: Path) -> Simulation:
    (tmp_path / "r.xml").write_text(ROBOT)
    return Simulation(scene_from_text(SCENE.format(tmp_path / "r.xml")))


def motors_of(simulation: Simulation, *names: str) -> JointMotors:
    return JointMotors(OwnElements(simulation.plant, simulation.plant.layout.robots[0]), names)


def test_the_engine_applies_the_law_to_each_joint(simulation: Simulation) -> None:
    data, rng = simulation.data, np.random.default_rng(0)
    motors, values = motors_of(simulation, "a", "b"), rng.uniform(0.5, 2.0, (5, 20))
    data.qpos[:3], data.qvel[:3] = (0.2, -0.3, 0.1), (1.0, 0.4, 0.0)
    before = data.ctrl.copy()
    motors.command(data.ctrl, values)
    assert data.ctrl[0] == before[0], "a motor that it does not command"
    mujoco.mj_forward(simulation.model, data)
    q, dq, tau, kp, kd = values[:, :2]
    law = kp * (q - data.qpos[:2]) + kd * (dq - data.qvel[:2]) + tau
    assert data.qfrc_actuator[:2] == pytest.approx(law)
    expected = np.array([data.qpos, data.qvel, data.qfrc_actuator, data.qacc])[:, :2]
    assert motors.read(data) == pytest.approx(expected)


def test_released_motors_have_their_own_laws_with_the_gains_of_now(simulation: Simulation) -> None:
    model, motors = simulation.model, motors_of(simulation, "a", "b")
    own = [model.actuator_gainprm.copy(), model.actuator_biasprm.copy()]
    motors.command(simulation.data.ctrl, np.full((5, 20), 3.0))
    assert (model.actuator_biasprm != own[1]).any()
    motors.release()
    assert [model.actuator_gainprm.tolist(), model.actuator_biasprm.tolist()] == [
        it.tolist() for it in own
    ]
    drives = simulation.drives
    drives.set_gains(np.full_like(drives.kp, 32.0), np.full_like(drives.kd, 16.0))
    motors.command(simulation.data.ctrl, np.full((5, 20), 3.0))
    motors.release()
    assert model.actuator_biasprm[2, :3] == pytest.approx([0.0, -2.0, -1.0])
    assert model.actuator_biasprm[1].tolist() == own[1][1].tolist()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("d", "robot 'r': joint 'd' not found; there are: a, b, c, free"),
        ("free", "joint 'free' has 0 actuators; it must have one"),
    ],
)
def test_a_joint_without_a_motor_of_its_own_is_named(
    simulation: Simulation, name: str, message: str
) -> None:
    with pytest.raises(UserInputError, match=message):
        motors_of(simulation, name)
