"""Impedance: displacement under a force, commanded wrenches, and what a contact feels."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from frame_robot import SERVO_ARM, FrameRobot

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

STIFFNESS = (500.0, 1000.0, 2000.0)


def pull(robot: FrameRobot, force: np.ndarray) -> None:
    """Apply a force at the origin of the frame, along the axes of the world, from now on."""
    data, body, frame = robot.simulation.data, robot.chain.frame.body, robot.chain.frame
    at, turn = np.zeros(3), np.zeros(4)
    mujoco.mju_mulPose(at, turn, data.xpos[body], data.xquat[body], frame.position, frame.quat_wxyz)
    data.xfrc_applied[body, :3] = force
    data.xfrc_applied[body, 3:] = np.cross(at - data.xipos[body], force)


def run_pulled(robot: FrameRobot, force: np.ndarray, duration: float) -> np.ndarray:
    """Return the displacement of the frame under a constant force.  # (3,)"""
    for _ in range(round(duration / robot.timestep)):
        pull(robot, force)
        robot.simulation.step()
    return robot.pose()[0] - robot.home


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_force_displaces_the_frame_by_force_over_stiffness(robot: FrameRobot, axis: int) -> None:
    drives = robot.simulation.drives  # without gains: pure torque control
    drives.set_gains(0.0 * drives.kp, 0.0 * drives.kd)
    robot.configure(mode="impedance", stiffness_translation=STIFFNESS)
    robot.go(robot.home)
    robot.run(0.5)
    np.testing.assert_allclose(robot.pose()[0], robot.home, atol=1e-5)  # it carries itself
    force = 10.0 * np.eye(3)[axis]
    expected = force / STIFFNESS
    displaced = run_pulled(robot, force, 8.0)
    assert np.linalg.norm(displaced - expected) <= 0.05 * np.linalg.norm(expected)


def test_a_commanded_wrench_displaces_the_frame_against_the_spring(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", twist_timeout=0.0)
    arm.go(arm.home)
    arm.push((0.0, 0.0, 5.0))
    arm.run(3.0)
    np.testing.assert_allclose(arm.pose()[0] - arm.home, (0, 0, 5e-3), atol=5e-5)


def test_a_wrench_ends_with_its_timeout(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", twist_timeout=0.5)
    arm.push((5.0, 0.0, 0.0))
    assert np.linalg.norm(arm.run(0.4)[-1] - arm.home) > 1e-3
    np.testing.assert_allclose(arm.run(3.0)[-1], arm.home, atol=2e-5)


def test_stiffness_along_the_axes_of_the_tool(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", axes="tool", stiffness_translation=STIFFNESS)
    arm.go(arm.home)
    arm.run(0.5)
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, arm.turn)
    tool = turn.reshape(3, 3)
    force = tool @ np.array([8.0, 0.0, 0.0])
    expected = tool @ (np.array([8.0, 0.0, 0.0]) / STIFFNESS)
    np.testing.assert_allclose(run_pulled(arm, force, 4.0), expected, atol=2e-4)


def test_the_force_of_the_spring_is_bounded_by_the_largest_error(arm: FrameRobot) -> None:
    arm.configure(mode="impedance", max_translation_error=0.01)
    arm.go(arm.home)
    arm.run(0.3)
    limit = 0.01 * 1000.0
    stays = run_pulled(arm, np.array([0.0, 0.8 * limit, 0.0]), 3.0)
    assert np.linalg.norm(stays) < 0.01
    gives = run_pulled(arm, np.array([0.0, 1.5 * limit, 0.0]), 1.0)
    assert np.linalg.norm(gives) > 0.02


def test_the_frame_moves_to_a_pose_without_overshoot(robot: FrameRobot) -> None:
    robot.configure(mode="impedance")
    goal = robot.home + np.array([0.0, 0.05, 0.0])
    robot.go(goal)
    positions = robot.run(3.0)
    assert (positions[:, 1] - goal[1]).max() < 5e-3
    assert np.linalg.norm(positions[-1] - goal) < 5e-3


def test_the_mode_changes_in_motion_without_a_jump(arm: FrameRobot) -> None:
    arm.turn_and_move((0.0, 0.0, 0.1))
    arm.run(0.1)
    arm.configure(mode="impedance")
    arm.turn_and_move((0.0, 0.0, 0.1))
    q, _ = arm.run_joints(0.2)
    arm.configure(mode="pose")
    arm.turn_and_move((0.0, 0.0, 0.1))
    more, _ = arm.run_joints(0.2)
    assert np.abs(np.diff(np.concatenate([q, more]), axis=0)).max() < 2e-3


def test_impedance_is_refused_for_joints_without_efforts(
    simulate: Callable[..., Simulation],
) -> None:
    robot = FrameRobot(simulate(SERVO_ARM))
    with pytest.raises(UserInputError, match="mode 'impedance': joint 'one' takes no efforts"):
        robot.configure(mode="impedance")


def test_a_wrench_is_refused_in_pose_mode(arm: FrameRobot) -> None:
    arm.simulation.events.clear()
    arm.push((1.0, 0.0, 0.0))
    (event,) = arm.simulation.events
    assert "mode impedance" in event.message
    assert not arm.owns()
