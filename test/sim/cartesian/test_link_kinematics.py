"""Poses and Jacobians of links agree with the engine, and with finite differences."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.cartesian.link_kinematics import LinkKinematics
from mujoco_ros.sim.simulation import Simulation

JOINTS = ("elbow_joint", "wrist_1_joint", "wrist_2_joint")
BASE, TOOL = "upper_arm_link", "tool0"  # the base moves, too


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return Simulation(load_scene("arm"))


def kinematics(simulation: Simulation, *frames: str, joints: tuple[str, ...] = JOINTS):
    cartesian = simulation.controls[0].cartesian
    assert isinstance(cartesian, CartesianController)
    return LinkKinematics(lambda: cartesian.chains, joints, BASE, (TOOL, *frames))


def test_at_the_present_positions_poses_are_those_of_the_engine(simulation: Simulation) -> None:
    links = kinematics(simulation)
    data, joints = mujoco.MjData(simulation.model), simulation.layout.robots[0].joints
    data.qpos[:] = simulation.data.qpos
    mujoco.mj_kinematics(simulation.model, data)
    q = data.qpos[joints.qpos]
    links.locate(q[[joints.names.index(name) for name in JOINTS]])
    position, turn = links.pose(TOOL)
    bodies = [simulation.model.body(f"arm/{name}").id for name in (BASE, TOOL)]
    base, tool = (data.xmat[body].reshape(3, 3) for body in bodies)
    np.testing.assert_allclose(turn, base.T @ tool, atol=1e-12)
    expected = base.T @ (data.xpos[bodies[1]] - data.xpos[bodies[0]])
    np.testing.assert_allclose(position, expected, atol=1e-12)


def test_the_jacobian_agrees_with_finite_differences(simulation: Simulation) -> None:
    joints = ("shoulder_pan_joint", *JOINTS)  # the first moves base and tool alike
    links, q, small = kinematics(simulation, joints=joints), np.array([0.3, 1.0, -0.4, 0.7]), 1e-6
    links.locate(q)
    position, turn = links.pose(TOOL)
    jacobian = links.jacobian(TOOL)
    for column in range(len(q)):
        links.locate(q + small * np.eye(len(q))[column])
        moved, turned = links.pose(TOOL)
        spin = (turned - turn) @ turn.T / small
        numeric = [*(moved - position) / small, spin[2, 1], spin[0, 2], spin[1, 0]]
        np.testing.assert_allclose(jacobian[:, column], numeric, atol=1e-5)


def test_a_base_that_is_a_mocap_body_is_where_it_was_moved_to(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(
        "<mujoco><worldbody><body name='base' mocap='true'><body name='link'>"
        "<joint name='hinge' axis='0 0 1'/><geom size='.1'/></body></body></worldbody>"
        "<actuator><motor name='hinge' joint='hinge'/></actuator></mujoco>"
    )
    (tmp_path / "scene.yaml").write_text("robots: [{name: arm, model: arm.xml}]")
    simulation = Simulation(load_scene(str(tmp_path / "scene.yaml")))
    cartesian = simulation.controls[0].cartesian
    assert isinstance(cartesian, CartesianController)
    links = LinkKinematics(lambda: cartesian.chains, ("hinge",), "base", ("world",))
    simulation.data.mocap_quat[0] = 0.0, 1.0, 0.0, 0.0
    links.locate(np.zeros(1))
    np.testing.assert_allclose(links.pose("world")[1], np.diag([1.0, -1.0, -1.0]), atol=1e-12)


def test_a_wrong_name_is_an_error(simulation: Simulation) -> None:
    with pytest.raises(UserInputError, match="frame 'flange' not found"):
        kinematics(simulation, "flange")
    with pytest.raises(UserInputError, match="the robot has no joint 'j9'"):
        kinematics(simulation, joints=("j9",))
