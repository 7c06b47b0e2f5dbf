"""Twists: axes, the timeout, and joints at their limits."""

import mujoco
import numpy as np
from frame_robot import FrameRobot


def test_a_twist_moves_the_frame_along_the_axes_of_the_base_and_ends_with_its_timeout(
    robot: FrameRobot,
) -> None:
    robot.configure(twist_timeout=0.2)
    robot.turn_and_move((0.0, 0.0, 0.1))
    positions = robot.run(1.0)
    # 0.1 m/s for 0.2 s; it accelerates and brakes for 10 ms each.
    np.testing.assert_allclose(positions[-1] - robot.home, (0, 0, 0.02), atol=2e-4)
    assert np.linalg.norm(positions[-1] - positions[-200]) < 1e-5  # it stays
    _, dq = robot.run_joints(0.05)
    assert np.abs(dq).max() < 1e-4


def test_a_twist_without_a_timeout_continues(arm: FrameRobot) -> None:
    arm.configure(twist_timeout=0.0)
    arm.turn_and_move((0.0, 0.0, 0.05))
    np.testing.assert_allclose(arm.run(2.0)[-1] - arm.home, (0, 0, 0.1), atol=1e-3)


def test_a_twist_in_the_frame_of_the_tool_turns_with_it(arm: FrameRobot) -> None:
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, arm.turn)
    forward = turn.reshape(3, 3)[:, 2]
    arm.turn_and_move((0.0, 0.0, 0.05), frame="grasp")
    moved = arm.run(0.2)[-1] - arm.home
    np.testing.assert_allclose(moved / np.linalg.norm(moved), forward, atol=0.02)


def test_an_angular_velocity_turns_about_the_origin_of_the_frame(arm: FrameRobot) -> None:
    arm.configure(twist_timeout=0.0)
    arm.turn_and_move((0, 0, 0), (0.0, 0.0, 0.5))
    positions = arm.run(1.0)
    assert np.linalg.norm(positions - arm.home, axis=1).max() < 1e-3
    assert abs(arm.angle_to(arm.turn) - 0.5) < 0.02


def test_the_reference_waits_for_a_frame_that_cannot_follow(panda: FrameRobot) -> None:
    panda.configure(twist_timeout=0.0)
    panda.turn_and_move((0.4, 0.0, 0.0))
    panda.run(4.0)  # far out of reach
    lead = panda.controller.reference.position - panda.pose()[0]
    assert np.linalg.norm(lead) < 0.02
    panda.turn_and_move((-0.2, 0.0, 0.0))
    before = panda.pose()[0]
    assert panda.run(0.5)[-1][0] < before[0] - 0.005  # back at once


def test_a_pose_after_a_twist_is_reached(robot: FrameRobot) -> None:
    robot.turn_and_move((0.0, 0.1, 0.0))
    robot.run(0.15)
    robot.go(robot.home)
    np.testing.assert_allclose(robot.run(1.0)[-1], robot.home, atol=1e-4)
