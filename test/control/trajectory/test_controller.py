"""Goals of the trajectory controller: start, end and events."""

import re

import numpy as np
import pytest
from commanded_robot import CommandedRobot, JointTolerance, points, some_joints
from hypothesis import given, settings
from hypothesis import strategies as st
from trajectory_robot import NAMES, ended, line, robot

from mujoco_ros.control.events import (
    CommandPreempted,
    CommandRejected,
    CommandSource,
    GoalEnded,
    GoalProgress,
    GoalStarted,
    Outcome,
)

# --- tolerances: reported and actual violations


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([0.0, 0.1]))
def test_violated_tolerances_are_reported_as_they_happen_and_only_then(seed, watch_speed, patience):
    rng = np.random.default_rng(seed)
    commanded = robot()
    times = np.cumsum(rng.uniform(0.1, 0.4, 2))
    waypoints = rng.uniform(-1, 1, size=(2, 3))
    knots = np.concatenate([[0.0], times])
    size, rate, phase = rng.uniform([[0.0], [2.0], [0.0]], [[0.2], [9.0], [6.0]], size=(3, 3))
    allowed = rng.uniform(0.02, 0.3, size=(2, 3)) * (rng.random((2, 3)) < 0.7)
    speed = 0.5 * watch_speed

    def errors(time: float) -> np.ndarray:
        wave = phase + rate * time
        return np.stack([size * np.sin(wave), size * rate * np.cos(wave)])

    def desired(time: float) -> np.ndarray:
        rows = np.stack([np.zeros(3), *waypoints])
        q = [np.interp(time, knots, column) for column in rows.T]
        slopes = np.diff(rows, axis=0) / np.diff(knots)[:, None]
        segment = int((knots <= time).sum()) - 1
        return np.stack([q, slopes[segment] if segment < 2 else np.zeros(3)])

    commanded.measure = lambda time: desired(time) - errors(time)
    commanded.configure(goal_time=patience, stopped_velocity_tolerance=0.0)
    commanded.follow(
        NAMES,
        points(times, waypoints),
        goal="goal",
        path=[
            JointTolerance(name=name, position=limit or -1.0, velocity=speed)
            for name, limit in zip(NAMES, allowed[0], strict=True)
        ],
        at_goal=[
            JointTolerance(name=name, position=limit or -1.0)
            for name, limit in zip(NAMES, allowed[1], strict=True)
        ],
    )

    def outcome(time: float) -> Outcome | None:
        q, dq = np.abs(errors(time))
        if time < times[-1]:
            far = ((q > allowed[0]) & (allowed[0] > 0)).any() or (speed and (dq > speed).any())
            return Outcome.PATH_TOLERANCE_VIOLATED if far else None
        if not ((q > allowed[1]) & (allowed[1] > 0)).any():
            return Outcome.SUCCESSFUL
        late = time - times[-1] > patience > 0
        return Outcome.GOAL_TOLERANCE_VIOLATED if late else None

    for _ in range(400):
        now = commanded.time
        expected = outcome(now)
        commanded.step()
        assert ended(commanded) == ([] if expected is None else [("goal", expected)]), f"at {now} s"
        if expected is None:
            continue
        message = commanded.events_of(GoalEnded)[0].message
        if expected is not Outcome.SUCCESSFUL:
            measured = commanded.measure(now)[0]
            np.testing.assert_array_equal(commanded.references.q, measured)
            assert not commanded.references.values[1:].any()
            found = re.search(
                r"(position|velocity) of joint '(\w)' is off by (\S+), allow", message
            )
            assert found, message
            row = ("position", "velocity").index(found[1])
            off = abs(errors(now)[row, NAMES.index(found[2])])
            assert float(found[3]) == pytest.approx(off, rel=1e-3)
        break


def test_the_joint_with_the_largest_violation_is_named():
    commanded = robot()
    commanded.measure = lambda _: np.array([[0.2, -0.9, 0.0], [0.0, 0.0, 0.0]])
    allowed = [JointTolerance(name=name, position=0.1) for name in NAMES]
    commanded.follow(NAMES, line(0.0, joints=3), goal="g", path=allowed)
    commanded.step()
    message = commanded.events_of(GoalEnded)[0].message
    assert message == (
        "path tolerance violated: position of joint 'b' is off by 0.9, allowed is 0.1"
    )


def test_full_turns_of_a_continuous_joint_violate_nothing():
    commanded = CommandedRobot(some_joints("ab", continuous="a"))
    commanded.measure = lambda _: np.array([[4 * np.pi + 0.01, 0.0], [0.0, 0.0]])
    tight = [JointTolerance(name="a", position=0.02)]
    commanded.follow("a", points([0.1], [[0.0]]), goal="g", path=tight, at_goal=tight)
    commanded.run(0.2)
    assert ended(commanded) == [("g", Outcome.SUCCESSFUL)]


def test_an_immediate_waypoint_is_checked_against_the_path_tolerance():
    commanded = robot()
    path = [JointTolerance(name="a", position=0.5)]
    commanded.measure = lambda _: np.zeros((2, 3))
    commanded.follow("a", points([0.0], [[1.0]]), goal="far", path=path)
    commanded.step()
    assert ended(commanded) == [("far", Outcome.PATH_TOLERANCE_VIOLATED)]


def test_a_violated_path_without_a_goal_is_reported_as_well():
    commanded = robot()
    commanded.configure(trajectory=np.array([0.5, 0.0, 0.0]))
    commanded.measure = lambda _: np.full((2, 3), 0.9)
    commanded.follow("ab", line(0.0, joints=2))
    commanded.run(0.1)
    (event,) = commanded.events_of(CommandRejected)
    assert event.source is CommandSource.TRAJECTORY
    assert "path tolerance violated: position of joint 'a' is off by 0.9" in event.message
    assert commanded.references.q.tolist() == [0.9, 0.9, 0.0]
    assert not commanded.control.active


def test_the_wait_for_a_goal_is_unbounded_without_a_time_tolerance():
    commanded = robot()
    commanded.measure = lambda time: np.full((2, 3), 0.0 if time > 3.0 else 0.7)
    commanded.follow(
        "a", line(0.0, 0.1), goal="g", at_goal=[JointTolerance(name="a", position=0.5)]
    )
    commanded.run(2.9)
    assert ended(commanded) == []
    commanded.run(0.2)
    assert ended(commanded) == [("g", Outcome.SUCCESSFUL)]


def test_a_joint_that_still_moves_has_not_reached_its_goal():
    commanded = robot()
    speed = np.array([[1.0, 0.0, 0.0], [0.011, 0.0, 0.0]])
    commanded.measure = lambda _: speed
    commanded.follow("a", line(1.0, 0.1), goal="g", goal_time=0.2)
    commanded.run(0.5)
    assert ended(commanded) == [("g", Outcome.GOAL_TOLERANCE_VIOLATED)]
    assert "velocity of joint 'a' is off by 0.011, allowed is 0.01" in commanded.events[-1].message


# --- goals: when they begin and end


def test_a_goal_succeeds_at_the_first_step_that_is_not_before_its_end():
    commanded = robot()
    commanded.configure(stopped_velocity_tolerance=0.0)
    commanded.follow("a", line(1.0, 0.0999), goal="g")
    commanded.run(0.1)
    assert ended(commanded) == []
    commanded.step()
    assert [type(event) for event in commanded.events if not isinstance(event, GoalProgress)] == [
        GoalStarted,
        GoalEnded,
    ]
    assert ended(commanded) == [("g", Outcome.SUCCESSFUL)]
    assert commanded.references.q[0] == 1.0
    assert not commanded.control.active


def test_a_goal_waits_while_simulated_time_is_paused():
    commanded = robot()
    commanded.follow("a", line(1.0), goal="g")
    assert commanded.events == []
    assert commanded.control.active
    commanded.step()
    assert commanded.events_of(GoalStarted) == [GoalStarted(goal="g")]


def test_a_reset_ends_goals_and_drops_all_trajectories():
    commanded = robot()
    commanded.follow("a", line(1.0), goal="g")
    commanded.run(0.1)
    commanded.follow("b", line(1.0), goal="later", start=9.0)
    commanded.follow("b", line(1.0), goal="latest", start=10.0)
    commanded.control.reset()
    assert ended(commanded)[-1] == ("latest", Outcome.INVALID_GOAL)
    assert commanded.events[-1].message == "the simulation was reset"
    assert not commanded.control.active


@pytest.mark.parametrize("goal", ["new", None])
def test_a_new_trajectory_ends_the_goal_before_it(goal):
    commanded = robot()
    commanded.follow("a", line(1.0), goal="old")
    commanded.run(0.1)
    commanded.follow("b", line(1.0), goal=goal)
    assert ended(commanded) == [("old", Outcome.INVALID_GOAL)]
    assert commanded.events[-1].message == "preempted by a new trajectory"


def test_a_cancelled_goal_holds_its_joints_at_the_references():
    commanded = robot()
    commanded.follow("ab", points([1.0], [[1.0, -1.0]], [[0.0, 0.0]]), goal="g")
    commanded.run(0.5)
    at = commanded.references.q.copy()
    commanded.control.trajectory.cancel("another")
    assert ended(commanded) == []
    commanded.control.trajectory.cancel("g")
    assert ended(commanded) == [("g", Outcome.CANCELED)]
    rows = commanded.run(0.2)
    np.testing.assert_array_equal(rows[:, 0], np.tile(at, (50, 1)))
    assert not rows[:, 1].any()


def test_a_goal_can_be_cancelled_before_it_begins():
    commanded = robot()
    commanded.follow("a", line(1.0), goal="g", start=1.0)
    commanded.run(0.1)
    commanded.control.trajectory.cancel("g")
    assert ended(commanded) == [("g", Outcome.CANCELED)]
    assert not commanded.run(2.0)[:, 0].any()


def test_pending_trajectories_are_cancelled_with_the_newest():
    commanded = robot()
    for k in range(3):
        commanded.follow("a", line(1.0), goal=k, start=0.5 + k)
    commanded.control.trajectory.cancel(2)
    assert not commanded.control.active
    assert not commanded.run(4.0)[:, 0].any()


@pytest.mark.parametrize("goal", ["empty", None])
def test_an_empty_trajectory_stops_the_joints(goal):
    commanded = robot()
    commanded.follow("a", line(1.0), goal="g")
    commanded.run(0.5)
    commanded.follow("b", line(1.0), start=10.0)
    commanded.hold(goal=goal)
    expected = [("g", Outcome.INVALID_GOAL)] + ([("empty", Outcome.SUCCESSFUL)] if goal else [])
    assert ended(commanded) == expected
    rows = commanded.run(0.2)
    assert np.ptp(rows[:, 0], axis=0).tolist() == [0.0, 0.0, 0.0]
    assert not rows[:, 1].any()
    assert not commanded.control.active


def test_an_empty_trajectory_ends_the_velocity_that_the_last_one_ended_with():
    commanded = robot()
    commanded.configure(allow_nonzero_velocity_at_trajectory_end=True)
    commanded.follow("a", points([0.1], [[1.0]], [[2.0]]))
    assert commanded.run(0.2)[-1, 1, 0] == 2.0
    commanded.hold()
    assert commanded.step()[1, 0] == 0.0


def test_an_empty_trajectory_preempts_every_owner_of_its_joints():
    commanded = robot()
    commanded.send(CommandSource.VELOCITY, velocity={"a": 1.0, "b": 1.0})
    commanded.step()
    commanded.hold(["a"], goal="empty")
    q, dq, _ = commanded.step()
    assert dq.tolist() == [0.0, 1.0, 0.0]
    assert commanded.run(0.2)[-1, 0, 0] == q[0], "the position reference stays as well"
    (taken,) = commanded.events_of(CommandPreempted)
    assert (taken.source, taken.new_owner, taken.joints) == (
        CommandSource.VELOCITY,
        CommandSource.TRAJECTORY,
        ("a",),
    )
    assert ended(commanded) == [("empty", Outcome.SUCCESSFUL)]


def test_a_topic_trajectory_that_loses_a_joint_continues_with_the_others():
    commanded = robot()
    commanded.follow("ab", line(1.0, joints=2))
    commanded.run(0.5)
    commanded.send(CommandSource.POSITION, position={"a": 0.0})
    np.testing.assert_allclose(commanded.run(0.6)[-1, 0], [0.0, 1.0, 0.0])


def test_feedback_has_the_configured_rate_and_the_state_of_the_goal():
    commanded = robot(timestep=0.001, step=777)
    commanded.configure(action_monitor_rate=50.0)
    commanded.measure = lambda time: np.array([[time, 0.0, 0.0], [1.0, 0.0, 0.0]])
    begin = commanded.time
    commanded.follow("a", points([0.3, 1.0], [[0.3], [1.0]]), goal="g", goal_time=0.1)
    rows = commanded.run(1.0)
    events = commanded.events_of(GoalProgress)
    times = np.array([event.time for event in events])
    np.testing.assert_allclose(np.diff(times), 0.02, atol=1e-9)
    assert len(events) == 50
    for event in events:
        assert event.goal == "g"
        assert event.since_start == pytest.approx(event.time - begin)
        assert event.index == (0 if event.since_start < 0.3 - 1e-9 else 1)
        row = rows[round(event.since_start / 0.001)]
        np.testing.assert_array_equal(event.desired[:2], row[:2])
        assert event.actual[0, 0] == event.time
