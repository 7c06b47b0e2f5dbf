"""Speed scaling of trajectory time, as doc/speed_scaling.rst of ros2_controllers defines it.

Its "on-controller" variant, with velocities and accelerations that are scaled as well.
"""

import re

import numpy as np
import pytest
from commanded_robot import CommandedRobot, points, some_joints

from mujoco_ros.control.events import CommandError, CommandSource, GoalEnded, GoalProgress, Outcome
from mujoco_ros.control.trajectory.trajectory import check_speed_scaling

STEP = 0.001
MOTION = points([0.3, 1.0], [[0.5], [0.2]], [[0.4], [0.0]], [[1.0], [0.0]])
POSITIONS = points(0.02 * np.arange(1, 31), np.sin(0.1 * np.arange(1, 31))[:, None])


def robot(**changes) -> CommandedRobot:
    commanded = CommandedRobot(some_joints("a"), timestep=STEP)
    commanded.configure(positions_upsampling=True, **changes)
    return commanded


def recorded(commanded: CommandedRobot, seconds: float) -> np.ndarray:
    """Return position, velocity and acceleration of the references of each step."""
    rows = []
    for _ in range(round(seconds / STEP)):
        q, dq, _ = commanded.step()
        ddq = commanded.control.trajectory.accelerations(commanded.time - STEP)
        rows.append([q[0], dq[0], ddq[0]])
    return np.array(rows)


@pytest.mark.parametrize("arrays", [MOTION, POSITIONS], ids=["goal", "chunk"])
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_positions_are_those_of_the_scaled_time(arrays, factor):
    scaled, plain = robot(), robot()
    scaled.control.trajectory.scale_speed(factor)
    for commanded in (scaled, plain):
        commanded.follow("a", arrays, upsampled=True)
    rows, reference = recorded(scaled, 2.2), recorded(plain, 2.2)
    if factor < 1:
        rows = rows[:: round(1 / factor)]
    else:
        reference = reference[:: round(factor)]
    count = min(len(rows), len(reference))
    exact = reference[:count] * [1.0, factor, factor**2]
    np.testing.assert_allclose(rows[:count], exact, atol=1e-9)


def test_a_factor_of_zero_pauses_and_another_one_continues():
    commanded, plain = robot(), robot()
    for each in (commanded, plain):
        each.follow("a", MOTION, goal="g")
    first = recorded(commanded, 0.5)
    commanded.control.trajectory.scale_speed(0.0)
    pause = recorded(commanded, 3.0)
    np.testing.assert_allclose(pause, np.tile([first[-1, 0], 0.0, 0.0], (3000, 1)), atol=1e-12)
    commanded.control.trajectory.scale_speed(1.0)
    rows = np.concatenate([first, recorded(commanded, 0.7)])
    np.testing.assert_allclose(rows, recorded(plain, 1.2), atol=1e-9)
    (end,) = commanded.events_of(GoalEnded)
    assert end.outcome == Outcome.SUCCESSFUL


def test_a_goal_takes_longer_and_feedback_has_the_time_of_the_trajectory():
    commanded = robot()
    commanded.control.trajectory.scale_speed(0.25)
    commanded.follow("a", MOTION, goal="g")
    commanded.run(3.99)
    assert not commanded.events_of(GoalEnded)
    progress = commanded.events_of(GoalProgress)[-1]
    assert progress.since_start == pytest.approx(progress.time / 4, abs=1e-6)
    commanded.run(0.02)
    assert len(commanded.events_of(GoalEnded)) == 1


@pytest.mark.parametrize("arrays", [MOTION, POSITIONS], ids=["goal", "chunk"])
def test_a_new_trajectory_continues_the_scaled_motion(arrays):
    commanded, twin = robot(), robot()
    for each in (commanded, twin):
        each.control.trajectory.scale_speed(0.4)
        each.follow("a", POSITIONS, upsampled=True)
        each.run(0.3)
    commanded.follow("a", arrays, upsampled=True)
    rows, exact = recorded(commanded, STEP), recorded(twin, STEP)
    assert abs(exact[0]).min() > 0.001
    np.testing.assert_allclose(rows, exact, atol=1e-9)


def test_a_deceleration_is_not_scaled():
    commanded = robot(decelerate_on_cancel=True, max_deceleration_on_cancel=np.array([2.0]))
    commanded.control.trajectory.scale_speed(0.5)
    commanded.follow("a", MOTION, goal="g")
    commanded.run(0.3)
    commanded.control.trajectory.cancel("g")
    velocity = recorded(commanded, 1.0)[:, 1]
    assert velocity[0] > 0.3
    stop = round(velocity[0] / 2.0 / STEP)
    np.testing.assert_allclose(np.diff(velocity[:stop]), -2.0 * STEP, atol=1e-9)
    assert not velocity[stop + 1 :].any()


def test_the_factor_is_that_of_the_settings_until_another_one_is_set_and_after_a_reset():
    commanded = robot(initial_scaling_factor=0.5)
    controller = commanded.control.trajectory
    assert controller.speed_scaling == 0.5
    controller.scale_speed(0.8)
    saved = commanded.control.save_state()
    commanded.control.reset()
    assert controller.speed_scaling == 0.5
    commanded.control.restore_state(saved)
    assert controller.speed_scaling == 0.8


def test_streams_are_not_scaled():
    commanded = robot(initial_scaling_factor=0.5)
    commanded.send(CommandSource.VELOCITY, velocity={"a": 1.0})
    assert commanded.run(0.5)[-1, 0, 0] == pytest.approx(0.5, abs=2 * STEP)


@pytest.mark.parametrize("factor", [-0.1, 1e-7, 1001.0, np.nan, np.inf])
def test_an_invalid_factor_is_rejected(factor):
    message = f"speed scaling factor {factor:g}; it must be 0, or from 1e-06 to 1000"
    with pytest.raises(CommandError, match=re.escape(message)):
        check_speed_scaling(factor)
