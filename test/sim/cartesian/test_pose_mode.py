"""Poses: steps, lines, singularities, limits, and targets out of reach."""

import math
from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from frame_robot import SERVO_ARM, FrameRobot, settling_time

from mujoco_ros.sim.simulation import Simulation

STEP_M = 0.01
SPEED = 0.25


def test_a_step_of_10_mm_settles_in_300_ms(robot: FrameRobot) -> None:
    goal = robot.home + STEP_M  # along each axis
    robot.go(goal)
    positions = robot.run(0.5)
    assert settling_time(positions, goal, robot.timestep, within=0.02 * STEP_M) <= 0.3
    assert (positions - goal).max() < 0.02 * STEP_M, "no overshoot"
    np.testing.assert_allclose(positions[-1], goal, atol=1e-5)


@pytest.mark.parametrize("rate", [1000, 50])
def test_a_streamed_line_at_quarter_metre_per_second_is_followed_within_1_mm(
    robot: FrameRobot, rate: int
) -> None:
    direction, length = np.array([0.0, 0.0, 1.0]), 0.15
    every, positions, times = max(1, round(1 / rate / robot.timestep)), [], []
    begin = robot.time
    for step in range(round(0.9 / robot.timestep)):
        if step % every == 0:
            robot.go(robot.home + direction * min(SPEED * (robot.time - begin), length))
        positions.append(robot.run(robot.timestep)[0])
        times.append(robot.time - begin)
    moved, time = np.array(positions) - robot.home, np.array(times)
    # A pose is reached when the next one is due: the delay of a period.
    along = np.clip(SPEED * (time - every * robot.timestep), 0.0, length)
    in_motion = (time > 0.1) & (time < length / SPEED)
    error = np.linalg.norm(moved - along[:, None] * direction, axis=1)
    assert np.sqrt(np.mean(error[in_motion] ** 2)) <= 1e-3
    across = moved - np.outer(moved @ direction, direction)
    assert np.linalg.norm(across, axis=1).max() <= 5e-4
    np.testing.assert_allclose(moved[-1], length * direction, atol=1e-4)


def test_one_far_pose_is_approached_on_a_straight_line_at_the_largest_speed(
    robot: FrameRobot,
) -> None:
    robot.configure(max_linear_velocity=SPEED)
    goal = robot.home + np.array([0.0, 0.0, 0.15])
    robot.go(goal)
    positions, errors, speeds = [], [], []
    for _ in range(round(1.0 / robot.timestep)):
        before = robot.controller.reference.position.copy()
        positions.append(robot.run(robot.timestep)[0])
        errors.append(np.linalg.norm(positions[-1] - robot.controller.reference.position))
        speeds.append(np.linalg.norm(robot.controller.reference.position - before))
    assert np.sqrt(np.mean(np.square(errors))) <= 1e-3
    assert max(speeds) <= SPEED * robot.timestep * 1.001
    assert np.abs(np.array(positions)[:, :2] - robot.home[:2]).max() < 2e-4
    np.testing.assert_allclose(positions[-1], goal, atol=1e-4)


def test_an_orientation_step_turns_about_the_origin_of_the_frame(robot: FrameRobot) -> None:
    half = math.radians(20.0) / 2
    axis = np.array([0.6, -0.64, 0.48])
    quat = np.zeros(4)
    mujoco.mju_mulQuat(quat, np.array([math.cos(half), *(math.sin(half) * axis)]), robot.turn)
    robot.go(robot.home, quat)
    positions = robot.run(0.8)
    assert robot.angle_to(quat) < 1e-3
    assert np.linalg.norm(positions - robot.home, axis=1).max() < 3e-3
    np.testing.assert_allclose(positions[-1], robot.home, atol=1e-4)


def test_a_target_out_of_reach_is_approached_and_the_arm_comes_to_rest(panda: FrameRobot) -> None:
    limits = np.minimum(
        panda.chain.joints.max_velocity, panda.controller.settings.max_joint_velocity
    )
    direction = np.array([1.0, 0.0, 0.0])
    panda.go(panda.home + 1.5 * direction)
    q, dq = panda.run_joints(9.0)
    assert (np.abs(dq) <= 1.05 * limits).all()
    assert (q >= panda.chain.joints.lower - 1e-3).all()
    assert (q <= panda.chain.joints.upper + 1e-3).all()
    assert np.abs(dq[-200:]).max() < 1e-3  # at rest
    reached = panda.pose()[0]
    assert reached[0] > panda.home[0] + 0.5  # the arm is stretched towards it
    panda.go(panda.home)
    panda.run(10.0)
    np.testing.assert_allclose(panda.pose()[0], panda.home, atol=1e-3)


def test_references_of_joints_keep_their_limits_beside_a_singularity(robot: FrameRobot) -> None:
    settings, joints = robot.controller.settings, robot.chain.joints
    most = np.minimum(joints.max_velocity, settings.max_joint_velocity)
    robot.go(robot.home + np.array([0.45, 0.0, 0.1]))  # nearly stretched
    before, speeds, positions = np.zeros(len(joints.names)), [], []
    for _ in range(round(1.5 / robot.timestep)):
        robot.simulation.step()
        references = robot.control.references
        speeds.append(references.dq[joints.indices].copy())
        positions.append(references.q[joints.indices].copy())
    assert (np.abs(speeds) <= most + 1e-9).all()
    assert (np.array(positions) >= joints.lower).all()
    assert (np.array(positions) <= joints.upper).all()
    change = np.abs(np.diff([before, *speeds], axis=0))
    assert (change <= settings.max_joint_acceleration * robot.timestep + 1e-9).all()


def test_a_joint_stops_at_its_limit_and_the_others_continue(panda: FrameRobot) -> None:
    joints = panda.chain.joints
    # Joint 7 turns the tool; it cannot turn that far.
    half = math.radians(170.0) / 2
    quat = np.zeros(4)
    mujoco.mju_mulQuat(quat, np.array([math.cos(half), 0.0, 0.0, math.sin(half)]), panda.turn)
    panda.go(panda.home, quat)
    q, _ = panda.run_joints(2.5)
    assert (q >= joints.lower - 1e-3).all()
    assert (q <= joints.upper + 1e-3).all()


def test_spare_joints_return_to_where_they_were(panda: FrameRobot) -> None:
    start = panda.q
    panda.go(panda.home + np.array([0.0, 0.2, 0.1]))
    panda.run(1.0)
    panda.go(panda.home)
    panda.run(6.0)
    np.testing.assert_allclose(panda.q, start, atol=0.01)


def test_without_feedforward_the_arm_sags_as_its_servos_let_it(arm: FrameRobot) -> None:
    arm.configure(feedforward=False)
    goal = arm.home + np.array([0.0, 0.0, 0.05])
    arm.go(goal)
    low = arm.run(1.0)[-1]
    assert low[2] < goal[2] - 2e-4
    arm.configure(feedforward=True)
    np.testing.assert_allclose(arm.run(1.0)[-1], goal, atol=1e-5)


@pytest.mark.parametrize("stiffness", [2000.0, 10000.0])
def test_position_servos_follow_within_1_mm_despite_their_lag(
    simulate: Callable[..., Simulation], stiffness: float
) -> None:
    robot = FrameRobot(simulate(SERVO_ARM))  # kv/kp is 50 ms
    model = robot.simulation.model
    model.actuator_gainprm[:, 0], model.actuator_biasprm[:, 1] = stiffness, -stiffness
    robot.run(0.3)
    direction, errors = np.array([0.0, 1.0, 0.0]), []
    robot.configure(max_linear_velocity=SPEED, rotation_weight=0.0)
    robot.go(robot.home + 0.2 * direction)
    for _ in range(round(1.2 / robot.timestep)):
        position = robot.run(robot.timestep)[0]
        errors.append(np.linalg.norm(position - robot.controller.reference.position))
    assert np.sqrt(np.mean(np.square(errors))) <= 1e-3
    np.testing.assert_allclose(position, robot.home + 0.2 * direction, atol=1e-4)
