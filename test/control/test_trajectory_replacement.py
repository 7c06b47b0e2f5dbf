"""Transitions between successive trajectories."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from commanded_robot import points
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly
from trajectory_robot import NAMES, STEP, ended, line, robot

from mujoco_ros.control.events import (
    CommandPreempted,
    CommandRejected,
    CommandSource,
    GoalProgress,
    GoalStarted,
    Outcome,
)
from mujoco_ros.control.trajectory.trajectory import PointArrays

# --- random trajectories at random times, against an oracle of scipy's polynomials


@dataclass
class Sent:
    """A trajectory, and when it is sent."""

    step: int
    joints: list[int]
    start: float | None  # relative to when it is sent
    arrays: PointArrays


@st.composite
def sent(draw) -> Sent:
    joints = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True))
    count = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    gaps = rng.uniform(0.01, 0.4, count)
    if count > 1 and draw(st.booleans()):
        gaps[0] = 0.0
    gaps[-1] += 0.05  # it must not arrive within the step it begins at
    times = np.cumsum(gaps)
    degrees = draw(st.lists(st.sampled_from([1, 3, 5]), min_size=count, max_size=count))
    values = np.zeros((4, count, len(joints)))
    values[:3] = rng.uniform(-3, 3, size=(3, count, len(joints)))
    values[1, -1] = 0.0
    given_fields = np.zeros((4, count), dtype=bool)
    for row, degree in ((0, 1), (1, 3), (2, 5)):
        given_fields[row] = [d >= degree for d in degrees]
    values[:3] *= given_fields[:3, :, None]
    start = draw(st.none() | st.floats(-0.4, 0.4))
    if start is not None:
        start = max(start, 0.02 - times[-1])
    arrays = PointArrays(times=times, values=values, given=given_fields)
    return Sent(draw(st.integers(0, 250)), joints, start, arrays)


def without(send: Sent, joints: list[int]) -> Sent:
    """Return what remains of a trajectory for its other joints."""
    kept = [joint not in joints for joint in send.joints]
    arrays = replace(send.arrays, values=send.arrays.values[:, :, kept])
    return replace(send, joints=[it for it in send.joints if it not in joints], arrays=arrays)


class Path:
    """References of one trajectory, from its first step on."""

    def __init__(self, send: Sent, start: float, begin: float, state: np.ndarray):
        """Lead on from `state`: position, velocity, acceleration (3, k)."""
        arrays, self.begin, self.joints = send.arrays, begin, send.joints
        degree = 1 + 2 * arrays.given[1:3].sum(axis=0)
        knots = start + arrays.times
        first = min(int((knots <= begin).sum()), len(knots) - 1)
        rows = arrays.values[:3].swapaxes(0, 1)  # (m, 3, k)
        self.end, self.last = knots[-1], rows[-1, 0]
        self.pieces = []
        if knots[first] > begin:
            leading, into = int(degree[first]), rows[first].copy()
            if leading == 1 and state[1].any():
                leading = 3
                if first < len(knots) - 1:
                    into[1] = (rows[first + 1, 0] - rows[first, 0]) / (
                        arrays.times[first + 1] - arrays.times[first]
                    )
            self._add([begin, knots[first]], [state, into], leading)
        for i in range(first, len(knots) - 1):
            self._add(knots[i : i + 2], rows[i : i + 2], int(degree[i : i + 2].min()))

    def _add(self, times, ends, degree: int) -> None:
        polynomial = BPoly.from_derivatives(times, np.array(ends)[:, : (degree + 1) // 2])
        derivatives = [polynomial, polynomial.derivative()]
        derivatives.append(
            derivatives[1].derivative() if degree > 1 else lambda t: 0.0 * polynomial(t)
        )
        self.pieces.append((times[0], derivatives))

    def __call__(self, time: float) -> np.ndarray:
        """Position, velocity and acceleration at `time` (3, k)."""
        if time >= self.end:
            return np.stack([self.last, 0 * self.last, 0 * self.last])
        derivatives = [d for since, d in self.pieces if since <= time][-1]
        return np.array([f(time) for f in derivatives])

    def fastest(self) -> float:
        """The greatest speed anywhere on it."""
        ends = [since for since, _ in self.pieces] + [self.end]
        return max(
            np.abs(derivatives[1](np.linspace(since, until, 100))).max()
            for (since, derivatives), until in zip(self.pieces, ends[1:], strict=True)
        )


@settings(max_examples=60)
@given(st.lists(sent(), min_size=1, max_size=3), st.integers(0, 10**6))
def test_random_trajectories_replace_each_other_without_a_jump(sends, step):
    sends.sort(key=lambda send: send.step)
    commanded = robot(q=[0.5, -0.5, 0.0], step=step)
    waiting: list[tuple[float, float, Sent]] = []
    follows: list[Path | None] = [None] * 3

    def expected(time: float) -> np.ndarray:
        rows = np.zeros((3, 3))
        rows[0] = previous[0]
        for joint, path in enumerate(follows):
            if path is not None:
                rows[:, joint] = path(time)[:, path.joints.index(joint)]
        return rows

    previous = commanded.references.values.copy()
    fast = 0.0
    for k in range(500):
        time = commanded.time
        for send in sends:
            if send.step != k:
                continue
            start = None if send.start is None else time + send.start
            commanded.follow([NAMES[j] for j in send.joints], send.arrays, start=start)
            begin = time if start is None else max(start, time)
            waiting = [w if w[0] < begin else (*w[:2], without(w[2], send.joints)) for w in waiting]
            waiting.append((begin, time if start is None else start, send))
            waiting = sorted((w for w in waiting if w[2].joints), key=lambda w: w[0])
        if (
            not waiting
            and all(send.step < k for send in sends)
            and all(path is None or path.end < time for path in follows)
        ):
            break
        before = expected(time)
        after = before.copy()
        while waiting and waiting[0][0] <= time:
            _, start, send = waiting.pop(0)
            path = Path(send, start, time, after[:, send.joints])
            fast = max(fast, path.fastest())
            for joint in send.joints:
                follows[joint] = path
            before, after = after, expected(time)
            moving = before[1, send.joints].any()
            if moving or send.arrays.given[1].all():
                smooth = after[1] if path.end > time else before[1]
                np.testing.assert_allclose(smooth, before[1], atol=1e-9)
        values = commanded.step()
        np.testing.assert_allclose(values[:2], after[:2], atol=1e-7 * (1 + fast))
        jump = np.abs(values[0] - previous[0]).max()
        assert jump <= 1.001 * fast * STEP + 1e-6, f"at {time} s"
        previous = values


# --- start stamps


@pytest.mark.parametrize("goal", ["late", None])
def test_a_trajectory_in_the_past_is_rejected_and_the_present_one_continues(goal):
    commanded = robot(step=2500)
    commanded.follow("a", line(1.0), goal="g")
    commanded.send(position={"b": 0.5})
    commanded.run(0.5)
    commanded.events.clear()
    before = commanded.control.owners()
    commanded.follow("ab", line(-1.0, joints=2), start=9.3999, goal=goal)
    (event,) = commanded.events
    assert event.message == "the trajectory ends in the past: at 10.400 s, and it is 10.500 s"
    if goal:
        assert ended(commanded) == [("late", Outcome.OLD_HEADER_TIMESTAMP)]
    else:
        assert isinstance(event, CommandRejected)
    assert commanded.control.owners() == before
    assert commanded.run(0.6)[-1, 0].tolist() == [1.0, 0.5, 0.0]
    assert ended(commanded)[-1] == ("g", Outcome.SUCCESSFUL)


def test_a_start_in_the_future_is_waited_for():
    commanded = robot()
    commanded.follow("a", line(1.0), goal="g", start=0.5)
    assert not commanded.run(0.5)[:, 0].any()
    assert commanded.events_of(GoalStarted), "the client is informed that its goal was accepted"
    assert not commanded.events_of(GoalProgress)
    rows = commanded.run(1.1)
    assert rows[0, 0, 0] == 0.0
    assert (np.diff(rows[:250, 0, 0]) > 0).all()
    assert rows[-1, 0, 0] == 1.0


def test_a_trajectory_shorter_than_a_step_is_not_late_because_it_waited():
    commanded = robot()
    commanded.follow("a", points([0.001], [[1.0]]), goal="g", start=0.1005)
    commanded.run(0.2)
    assert ended(commanded) == [("g", Outcome.SUCCESSFUL)]
    assert commanded.references.q[0] == 1.0


def test_joints_that_wait_for_a_start_do_not_drift():
    commanded = robot()
    commanded.send(CommandSource.VELOCITY, velocity={"a": 1.0})
    commanded.run(0.1)
    commanded.follow("a", line(5.0), start=1.0)
    rows = commanded.run(0.5)
    assert not rows[:, 1].any()
    assert np.ptp(rows[:, 0]) == pytest.approx(0.1, abs=0.005)


def test_trajectories_can_be_sent_ahead_of_time():
    commanded = robot()
    commanded.follow("a", line(1.0), goal="first", start=0.2)
    commanded.follow("ab", line(2.0, joints=2), goal="second", start=0.7)
    assert ended(commanded) == [("first", Outcome.INVALID_GOAL)]
    commanded.run(0.7)
    half_way = commanded.references.values[:, 0].copy()
    assert half_way[:2] == pytest.approx([0.5, 1.5], abs=0.02), "the first was followed meanwhile"
    onward = half_way[:2] + np.array([1.5 * STEP, 0.0])
    assert commanded.step()[:2, 0] == pytest.approx(onward, abs=1e-3), "and left without a jump"
    assert commanded.run(1.1)[-1, 0].tolist() == [2.0, 2.0, 0.0]
    assert ended(commanded)[-1] == ("second", Outcome.SUCCESSFUL)


def test_a_pending_trajectory_loses_the_joints_of_a_newer_one_that_begins_before_it():
    commanded = robot()
    commanded.follow("ac", line(1.0, joints=2), start=0.5)
    commanded.follow("ab", line(2.0, joints=2), start=0.3)
    assert commanded.run(3.0)[-1, 0].tolist() == [2.0, 2.0, 1.0]


def test_a_trajectory_is_the_same_without_joints_that_it_lost():
    alone, commanded = robot(), robot()
    commanded.follow("ab", points([1.0], [[1.0, 1.0]]), start=0.3)  # of positions only
    commanded.follow("a", line(2.0))  # moves when the other one begins
    alone.follow("b", points([1.0], [[1.0]]), start=0.3)
    np.testing.assert_array_equal(commanded.run(2.0)[:, :, 1], alone.run(2.0)[:, :, 1])


@pytest.mark.parametrize("start", [None, 1.0])
def test_trajectories_of_different_joints_that_begin_in_the_same_step_are_both_followed(start):
    commanded = robot()
    commanded.follow("a", line(1.0), start=start)
    commanded.follow("b", line(2.0), start=start)
    assert commanded.run(3.0)[-1, 0].tolist() == [1.0, 2.0, 0.0]


# --- parts of robots


def test_joints_that_a_new_trajectory_leaves_out_stay_on_the_older_one():
    alone, commanded = robot(), robot()
    for each in (alone, commanded):
        each.follow("ab", points([0.4, 1.0], [[1.0, 1.0], [3.0, -1.0]], [[2.0, 0.0], [0.0, 0.0]]))
        each.run(0.3)
    commanded.follow("bc", line(0.5, joints=2))
    wanted, found = alone.run(1.2), commanded.run(1.2)
    np.testing.assert_array_equal(found[:, :, 0], wanted[:, :, 0])
    assert found[-1, 0].tolist() == [3.0, 0.5, 0.5]


def test_preempted_joints_end_the_goal_and_stop_its_other_joints():
    commanded = robot()
    commanded.follow("ab", line(1.0, joints=2), goal="g")
    commanded.run(0.5)
    commanded.control.trajectory.release(np.array([1]), "joint 'b' was taken")
    assert ended(commanded) == [("g", Outcome.INVALID_GOAL)]
    assert commanded.events[-1].message == "joint 'b' was taken"
    commanded.references.q[1] = 7.0
    rows = commanded.run(0.2)
    assert np.ptp(rows[:, 0], axis=0).tolist() == [0.0, 0.0, 0.0]
    assert not rows[:, 1, 0].any()


def test_preempted_joints_are_not_claimed_again_by_pending_trajectories():
    commanded = robot()
    commanded.follow("a", line(1.0), start=0.5)
    commanded.follow("b", line(1.0), start=0.9)
    commanded.control.trajectory.release(np.array([0]), "joint 'a' was taken")
    assert commanded.run(2.0)[-1, 0].tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("start", [None, 1.0])
def test_a_trajectory_by_topic_continues_without_a_joint_that_is_taken(start):
    commanded = robot()
    commanded.follow("ab", line(1.0, joints=2), start=start)
    commanded.step()
    commanded.send(position={"b": 0.3})
    assert commanded.run(3.0)[-1, 0].tolist() == [1.0, 0.3, 0.0]


def test_a_trajectory_that_lost_a_joint_is_still_compared_with_its_path():
    commanded = robot()
    commanded.configure(trajectory=np.full(3, 0.1))
    commanded.follow("ab", line(1.0, seconds=2.0, joints=2))
    commanded.step()
    commanded.send(position={"b": 0.3})
    commanded.measure = lambda _time: np.zeros((2, 3))  # both are blocked
    commanded.run(3.0)
    (event,) = commanded.events_of(CommandRejected)
    assert event.message.startswith("path tolerance violated: position of joint 'a' is off by 0.1")


def test_a_stop_that_a_release_ends_does_not_delay_the_next_trajectory():
    commanded = robot()
    commanded.configure(decelerate_on_cancel=True, max_deceleration_on_cancel=np.ones(3))
    commanded.follow("a", line(1.0), goal="g")
    commanded.run(0.5)
    commanded.control.trajectory.cancel("g")
    commanded.send(position={"a": 0.5}, velocity={"a": 1.0})
    commanded.run(0.1)
    before = commanded.references.dq[0]
    assert before == 1.0
    commanded.follow("a", line(1.0))
    assert commanded.step()[1, 0] == pytest.approx(before, abs=0.1)


def test_an_empty_trajectory_does_not_report_a_stream_that_has_ended():
    commanded = robot()
    commanded.send(position={"a": 0.5})
    commanded.run(10.0)
    commanded.hold(["a"])
    (event,) = commanded.events_of(CommandPreempted)
    assert event.was_idle


def test_effort_is_fed_forward_along_the_path_and_constant_after_its_end():
    commanded = robot()
    commanded.follow("a", points([0.4, 0.8], [[0.0], [0.0]], tau=[[2.0], [-3.0]]))
    rows = commanded.run(1.2)[:, 2, 0]
    times = np.arange(300) * STEP
    np.testing.assert_allclose(rows, np.interp(times, [0, 0.4, 0.8], [0, 2, -3]), atol=1e-12)
