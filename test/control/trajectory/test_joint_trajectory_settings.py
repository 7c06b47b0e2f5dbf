"""Settings of the trajectory controller that ros2_controllers has under the same names.

Each test names the source of the behaviour in joint_trajectory_controller of ros2_controllers 6.9.
"""

import numpy as np
import pytest
from commanded_robot import CommandedRobot, points, some_joints
from scipy.interpolate import BPoly

from mujoco_ros.control.events import (
    CommandPreempted,
    CommandRejected,
    CommandSource,
    GoalEnded,
    Outcome,
)

STEP = 0.001
QUIET = [[0.0]]


def robot(names="ab", **changes) -> CommandedRobot:
    commanded = CommandedRobot(some_joints(names), timestep=STEP)
    commanded.configure(**changes)
    return commanded


def ended(commanded: CommandedRobot) -> list[tuple[object, Outcome]]:
    return [(event.goal, event.outcome) for event in commanded.events_of(GoalEnded)]


def at(position: float, velocity: float = 0.0, joints: int = 2):
    """Measured states that do not change."""
    return lambda _time: np.array([[position] * joints, [velocity] * joints])


# --- interpolate_from_desired_state: set_point_before_trajectory_msg in update()


@pytest.mark.parametrize(
    ("desired", "start"), [(True, [0.0, 0.0]), (False, [0.3, -0.5])], ids=["desired", "measured"]
)
def test_a_trajectory_starts_at_the_references_or_at_the_measured_state(desired, start):
    commanded = robot(interpolate_from_desired_state=desired)
    commanded.measure = at(0.3, -0.5)
    commanded.follow("a", points([1.0], [[1.0]], QUIET))
    exact = BPoly.from_derivatives([0.0, 1.0], [start, [1.0, 0.0]])
    rows = commanded.run(1.0)[:, 0]
    np.testing.assert_allclose(rows[:, 0], exact(STEP * np.arange(1000)), atol=1e-12)
    assert not rows[:, 1].any(), "the other joint stays"


def test_a_trajectory_that_replaces_another_starts_at_the_references():
    # As with allow_trajectory_replacement: blend_with_active_trajectory().
    both = []
    for desired in (True, False):
        commanded = robot(interpolate_from_desired_state=desired)
        commanded.follow("a", points([1.0], [[1.0]], QUIET))
        commanded.run(0.5)
        commanded.measure = at(0.3, -0.5)
        commanded.follow("a", points([1.0], [[0.2]], QUIET))
        both.append(commanded.run(1.0)[:, :, 0])
    np.testing.assert_array_equal(*both)


# --- set_last_command_interface_value_as_state_on_activation: on_activate()


@pytest.mark.parametrize(("last", "start"), [(True, 0.8), (False, 0.3)])
def test_joints_of_another_source_start_at_its_command_or_at_their_measured_position(last, start):
    commanded = robot(set_last_command_interface_value_as_state_on_activation=last)
    commanded.send(CommandSource.POSITION, position={"a": 0.8})
    commanded.measure = at(0.3)
    commanded.run(0.1)
    commanded.follow("a", points([1.0], [[1.0]], QUIET))
    exact = BPoly.from_derivatives([0.0, 1.0], [[start, 0.0], [1.0, 0.0]])
    rows = commanded.run(0.5)[:, 0]
    np.testing.assert_allclose(rows[:, 0], exact(STEP * np.arange(500)), atol=1e-12)
    assert not rows[:, 1].any(), "joints outside the trajectory stay"


def test_joints_that_the_controller_has_already_start_at_their_references():
    commanded = robot(set_last_command_interface_value_as_state_on_activation=False)
    commanded.follow("a", points([0.1], [[1.0]], QUIET))
    commanded.run(0.2)
    commanded.measure = at(0.3)
    commanded.follow("a", points([1.0], [[1.0]], QUIET))
    assert (commanded.run(0.5)[:, 0, 0] == 1.0).all()


def test_the_measured_position_is_held_until_a_later_start():
    commanded = robot(set_last_command_interface_value_as_state_on_activation=False)
    commanded.send(CommandSource.POSITION, position={"a": 0.8})
    commanded.measure = at(0.3)
    commanded.run(0.1)
    commanded.follow("a", points([1.0], [[1.0]], QUIET), start=0.5)
    rows = commanded.run(0.3)
    assert (rows[:, 0, 0] == 0.3).all()
    assert not rows[:, 1, 0].any()


# --- interpolation_method none: Trajectory::sample()


def test_without_interpolation_the_references_are_the_next_waypoint():
    commanded = robot(interpolation_method="none")
    commanded.follow("a", points([0.1, 0.2, 0.3], [[1.0], [2.0], [3.0]], [[5.0], [6.0], [0.0]]))
    rows = commanded.run(0.5)[:, :2, 0]
    for begin, end, wanted in (
        (0, 100, [0.0, 0.0]),  # until the first waypoint, where it was
        (100, 200, [2.0, 6.0]),
        (200, 300, [3.0, 0.0]),
        (300, 500, [3.0, 0.0]),
    ):
        assert (rows[begin:end] == wanted).all(), (begin, end)
    assert not commanded.control.active


def test_without_interpolation_a_goal_succeeds_at_its_end():
    commanded = robot(interpolation_method="none")
    commanded.follow("a", points([0.1, 0.2], [[1.0], [2.0]]), goal="g")
    commanded.run(0.19)
    assert ended(commanded) == []
    commanded.run(0.1)
    assert ended(commanded) == [("g", Outcome.SUCCESSFUL)]


def test_without_interpolation_waypoints_in_the_past_are_skipped():
    commanded = robot(interpolation_method="none")
    commanded.run(0.25)
    commanded.follow("a", points([0.1, 0.2, 0.3], [[1.0], [2.0], [3.0]]), start=0.001)
    assert (commanded.run(0.2)[:, 0, 0] == 3.0).all()


# --- cmd_timeout: update()


def moving_end(joints: int = 1):
    return points([0.5], [[1.0] * joints], [[2.0] * joints])


def test_after_the_timeout_a_trajectory_by_topic_stops_with_a_warning():
    commanded = robot(cmd_timeout=0.2, allow_nonzero_velocity_at_trajectory_end=True)
    commanded.follow("a", moving_end())
    rows = commanded.run(0.699)
    assert rows[-1, :2, 0].tolist() == [1.0, 2.0]
    assert not commanded.events
    rows = commanded.run(0.01)
    assert rows[-1, :2, 0].tolist() == [1.0, 0.0]
    (warning,) = commanded.events_of(CommandRejected)
    assert warning.message == "no trajectory in the cmd_timeout of 0.2 s; holding the position"
    commanded.run(1.0)
    assert len(commanded.events) == 1
    assert not commanded.control.active


def test_a_trajectory_in_time_prevents_the_timeout():
    commanded = robot(cmd_timeout=0.2)
    for _ in range(4):
        commanded.follow("a", points([0.5], [[1.0]], QUIET))
        commanded.run(0.69)
    assert not commanded.events


@pytest.mark.parametrize("goal_time", [0.2, 0.3])
def test_a_timeout_within_the_goal_time_is_ignored(goal_time):
    commanded = robot(
        cmd_timeout=0.2, goal_time=goal_time, allow_nonzero_velocity_at_trajectory_end=True
    )
    commanded.follow("a", moving_end())
    assert commanded.run(3.0)[-1, 1, 0] == 2.0
    assert not commanded.events


def test_a_goal_that_is_not_reached_is_aborted_by_the_timeout():
    commanded = robot(cmd_timeout=0.2, goal=np.array([0.01, 0.0]))
    commanded.measure = at(0.9)
    commanded.follow("a", points([0.5], [[1.0]], QUIET), goal="g")
    commanded.run(0.69)
    assert ended(commanded) == []
    commanded.run(0.02)
    (end,) = commanded.events_of(GoalEnded)
    assert end.outcome == Outcome.GOAL_TOLERANCE_VIOLATED
    assert end.message.startswith("goal not reached within the cmd_timeout of 0.2 s: position of")


def test_a_source_that_takes_joints_in_the_meantime_preempts_a_completed_command():
    commanded = robot(cmd_timeout=1.0)
    commanded.follow("a", points([0.1], [[1.0]], QUIET))
    commanded.run(0.2)
    commanded.send(CommandSource.POSITION, position={"a": 0.0})
    (taken,) = commanded.events_of(CommandPreempted)
    assert taken.was_idle
    commanded.run(2.0)
    assert len(commanded.events) == 1


# --- decelerate_on_cancel: decelerate_to_hold_position()


DECELERATION = np.array([4.0, 10.0])


def stopped(q, dq, deceleration, times):
    """Position and velocity of a stop with constant deceleration.  # (times, 2)"""
    braked = np.minimum(times, abs(dq) / deceleration)
    change = -np.sign(dq) * deceleration
    return np.stack([q + dq * braked + change * braked**2 / 2, dq + change * braked], axis=1)


def decelerating(**changes) -> CommandedRobot:
    """Two joints that move at different velocities."""
    commanded = robot(decelerate_on_cancel=True, max_deceleration_on_cancel=DECELERATION, **changes)
    commanded.follow("ab", points([2.0], [[2.0, -3.0]], [[0.0, 0.0]]), goal="g")
    commanded.run(0.7)
    return commanded


def test_a_canceled_goal_decelerates_each_joint_from_its_reference():
    commanded, twin = decelerating(), decelerating()
    commanded.control.trajectory.cancel("g")
    assert ended(commanded) == [("g", Outcome.CANCELED)]
    now = twin.step()  # the references of the step at which the stop begins
    rows = commanded.run(1.0)
    assert abs(now[1]).min() > 0.5
    for joint in range(2):
        q, dq = now[:2, joint]
        exact = stopped(q, dq, DECELERATION[joint], STEP * np.arange(1000))
        np.testing.assert_allclose(rows[:, :2, joint], exact, atol=1e-9)
    assert not rows[-1, 1].any()
    assert not commanded.control.active


def test_a_violated_path_tolerance_decelerates_from_the_measured_state():
    commanded = decelerating(trajectory=np.array([0.1, 0.0]))
    commanded.measure = at(-0.5, 0.8)
    rows = commanded.run(1.0)
    assert ended(commanded) == [("g", Outcome.PATH_TOLERANCE_VIOLATED)]
    times = STEP * np.arange(1000)
    for joint in range(2):
        exact = stopped(-0.5, 0.8, DECELERATION[joint], times)
        np.testing.assert_allclose(rows[:, :2, joint], exact, atol=1e-9)


@pytest.mark.parametrize(
    "changes",
    [
        {"decelerate_on_cancel": False},
        {"max_deceleration_on_cancel": np.array([4.0, 0.0])},
    ],
)
def test_without_a_deceleration_of_all_moving_joints_they_stop_at_once(changes):
    commanded = decelerating()
    settings = {"decelerate_on_cancel": True, "max_deceleration_on_cancel": DECELERATION}
    commanded.configure(**settings | changes)
    commanded.control.trajectory.cancel("g")
    rows = commanded.run(0.1)
    assert not np.ptp(rows[1:, 0], axis=0).any()
    assert not rows[1:, 1].any()


def test_a_new_trajectory_continues_from_the_deceleration():
    commanded = decelerating()
    commanded.control.trajectory.cancel("g")
    commanded.run(0.05)
    before = commanded.references.values[:2].copy()
    commanded.follow("ab", points([1.0], [[0.0, 0.0]], [[0.0, 0.0]]))
    after = commanded.step()[:2]
    np.testing.assert_allclose(after[1], before[1] - np.sign(before[1]) * DECELERATION * STEP)
    np.testing.assert_allclose(after[0], before[0] + (before[1] + after[1]) / 2 * STEP)
    assert not commanded.run(1.0)[-1, :2].any()


def test_a_stop_turns_a_continuous_joint_as_far_as_it_needs():
    commanded = CommandedRobot(some_joints("a", continuous=["a"]), timestep=STEP)
    commanded.configure(decelerate_on_cancel=True, max_deceleration_on_cancel=np.array([5.0]))
    commanded.follow("a", points([2.0, 4.0], [[20.0], [40.0]], [[10.0], [0.0]]), goal="g")
    commanded.run(2.0)
    q = commanded.references.q[0]
    commanded.control.trajectory.cancel("g")
    assert commanded.run(3.0)[-1, 0, 0] - q > 2 * np.pi


def test_a_reset_ends_a_deceleration():
    commanded = decelerating()
    commanded.control.trajectory.cancel("g")
    commanded.control.reset()
    assert not commanded.control.active
