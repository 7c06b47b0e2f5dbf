"""References along a trajectory from their present state to its end."""

import numpy as np
import pytest
from commanded_robot import PointArrays, points, some_joints, trajectory_settings
from scipy.interpolate import BPoly

from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.trajectory.follower import TrajectoryFollower
from mujoco_ros.control.trajectory.spline import Cursor
from mujoco_ros.control.trajectory.trajectory import Trajectory, trajectory

ONE = some_joints("a")
STEP = 0.001


def check(joints: ControlledJoints, names, arrays: PointArrays, start=None) -> Trajectory:
    settings = trajectory_settings(joints, allow_nonzero_velocity_at_trajectory_end=True)
    return trajectory(joints, settings, "clamp", names, start, arrays)


def begin(
    joints: ControlledJoints,
    arrays: PointArrays,
    *,
    q,
    dq=0.0,
    ddq=0.0,
    tau=0.0,
    time=0.0,
    start=None,
) -> tuple[TrajectoryFollower, References]:
    """Begin to follow a trajectory of all joints."""
    count = len(joints.names)
    references = References(np.array([np.resize(x, count) for x in (q, dq, tau)], dtype=float))
    checked = check(joints, joints.names, arrays, start)
    return TrajectoryFollower(checked, joints, references, np.full(count, ddq), time), references


def walk(track: TrajectoryFollower, references: References, times) -> np.ndarray:
    """Return the references at times (steps, 3, n)."""
    rows = []
    for time in times:
        track.update(time)
        rows.append(references.values.copy())
    return np.array(rows)


QUINTIC = points(
    [0.4, 1.0, 1.3], [[1.0], [0.5], [2.0]], [[0.3], [-0.2], [0.0]], [[1.0], [2.0], [-1.0]]
)


def test_it_leads_from_the_motion_of_the_references_into_the_first_waypoint():
    track, references = begin(ONE, QUINTIC, q=0.2, dq=-0.7, ddq=3.0, time=5.0)
    exact = BPoly.from_derivatives([5.0, 5.4], [[0.2, -0.7, 3.0], [1.0, 0.3, 1.0]])
    times = 5.0 + STEP * np.arange(400)
    for time, row in zip(times, walk(track, references, times), strict=True):
        assert row[0, 0] == pytest.approx(exact(time), abs=1e-12)
        assert row[1, 0] == pytest.approx(exact.derivative()(time), abs=1e-11)
    assert track.acceleration(times[-1])[0] == pytest.approx(exact.derivative(2)(times[-1]))


def test_after_the_first_waypoint_it_follows_the_spline_of_the_trajectory():
    track, references = begin(ONE, QUINTIC, q=0.2, dq=-0.7, time=5.0)
    curve = check(ONE, "a", QUINTIC).curve
    assert curve is not None
    cursor = Cursor(curve)
    times = np.arange(5.4, 6.29, STEP)
    for time, row in zip(times, walk(track, references, times), strict=True):
        cursor.move(time - 5.0)
        np.testing.assert_allclose(row[:, 0], cursor.values[:, 0], atol=1e-11)


def test_the_last_waypoint_is_reached_exactly_and_held():
    track, references = begin(ONE, QUINTIC, q=0.2)
    rows = walk(track, references, [1.2, 1.299, 1.3001])
    assert rows[-1].ravel().tolist() == [2.0, 0.0, 0.0]
    assert track.finished
    assert track.acceleration(1.3001).tolist() == [0.0]


def test_a_velocity_at_the_end_is_that_of_the_last_point():
    arrays = points([0.5], [[1.0]], [[2.0]])
    track, references = begin(ONE, arrays, q=0.0)
    assert walk(track, references, [0.2, 0.6, 3.0])[-1].ravel().tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize(("time", "index"), [(0.0, 0), (0.39, 0), (0.4, 1), (1.0, 2), (1.29, 2)])
def test_waypoints_in_the_past_are_skipped(time, index):
    track, references = begin(ONE, QUINTIC, q=3.0, dq=0.5, ddq=-2.0, time=time, start=0.0)
    row = walk(track, references, [time])[0]
    assert row[:, 0] == pytest.approx([3.0, 0.5, 0.0], abs=1e-9), "it begins at the reference"
    assert track.index == index
    first = QUINTIC.times[index]
    assert walk(track, references, [first])[0, 0, 0] == pytest.approx(QUINTIC.values[0, index, 0])
    assert track.index == min(index + 1, 3)


def test_the_index_of_the_next_waypoint_is_right_along_the_whole_path():
    track, _ = begin(ONE, QUINTIC, q=0.0)
    indices = []
    for time in (0.0, 0.3, 0.5, 0.99, 1.1, 1.29, 1.3, 2.0):
        track.update(time)
        indices.append(track.index)
    assert indices == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_first_waypoint_at_zero_is_its_start():
    arrays = points([0.0, 1.0], [[0.2], [1.0]], [[0.0], [0.0]])
    track, references = begin(ONE, arrays, q=0.2, time=4.0)
    rows = walk(track, references, [4.0, 4.25, 4.5])
    np.testing.assert_allclose(rows[:, 0, 0], [0.2, 0.2 + 0.8 * 0.15625, 0.6])


def test_a_first_waypoint_at_zero_elsewhere_makes_no_jump():
    arrays = points([0.0, 1.0], [[9.0], [1.0]], [[0.0], [0.0]])
    track, references = begin(ONE, arrays, q=0.2)
    steps = np.diff(walk(track, references, np.arange(0.0, 1.1, STEP))[:, 0, 0])
    assert np.abs(steps).max() <= 0.8 * 1.5 * STEP + 1e-12
    assert references.q[0] == 1.0


def test_a_single_waypoint_at_zero_acts_at_once():
    track, references = begin(ONE, points([0.0], [[1.0]]), q=0.2)
    assert walk(track, references, [0.0])[0, 0, 0] == 1.0
    assert track.finished


# --- positions only


def test_positions_alone_are_joined_by_lines_when_it_begins_at_rest():
    arrays = points([0.5, 1.0], [[1.0], [0.0]])
    track, references = begin(ONE, arrays, q=0.5)
    rows = walk(track, references, [0.0, 0.25, 0.5, 0.75])
    np.testing.assert_allclose(rows[:, 0, 0], [0.5, 0.75, 1.0, 0.5])
    np.testing.assert_allclose(rows[:, 1, 0], [1.0, 1.0, -2.0, -2.0])


@pytest.mark.parametrize(
    ("arrays", "arriving"),
    [(points([0.5, 1.0], [[1.0], [0.0]]), -2.0), (points([0.5], [[1.0]]), 0.0)],
    ids=["as_fast_as_it_goes_on", "at_rest_at_the_last"],
)
def test_moving_references_are_led_smoothly_into_positions_alone(arrays, arriving):
    track, references = begin(ONE, arrays, q=0.5, dq=-1.5)
    exact = BPoly.from_derivatives([0, 0.5], [[0.5, -1.5], [1.0, arriving]])
    times = np.arange(0.0, 0.5, STEP)
    rows = walk(track, references, times)
    np.testing.assert_allclose(rows[:, 0, 0], exact(times), atol=1e-12)
    np.testing.assert_allclose(rows[:, 1, 0], exact.derivative()(times), atol=1e-11)


# --- continuous joints

TURNING = some_joints(("wheel", "arm"), continuous=["wheel"])


@pytest.mark.parametrize(
    ("here", "there", "turn"),
    [
        (0.0, 1.0, 1.0),
        (0.0, 6.0, 6.0 - 2 * np.pi),
        (20.0, 0.0, -20.0 + 6 * np.pi),
        (-7.0, 7.0, 14.0 - 4 * np.pi),
        (3.0, -3.0, 2 * np.pi - 6.0),
    ],
)
def test_a_continuous_joint_takes_the_shorter_direction_and_others_do_not(here, there, turn):
    assert abs(turn) <= np.pi
    arrays = points([1.0, 2.0], [[there, there], [there + 1, there + 1]])
    track, references = begin(TURNING, arrays, q=here)
    rows = walk(track, references, np.arange(0.0, 2.01, 0.01))
    np.testing.assert_allclose(rows[[0, 100, -1], 0, 0], here + np.array([0, turn, turn + 1]))
    np.testing.assert_allclose(rows[[0, 100, -1], 0, 1], [here, there, there + 1])
    assert np.abs(np.diff(rows[:, 0, 0])).max() <= np.pi * 0.01 + 1e-9


def test_full_turns_within_a_trajectory_are_executed():
    arrays = points([1.0, 2.0], [[0.0, 0.0], [25.0, 0.0]])
    track, references = begin(TURNING, arrays, q=2 * np.pi)
    assert walk(track, references, [2.0])[0, 0, 0] == pytest.approx(25.0 + 2 * np.pi)


# --- limits

LIMITED = some_joints("a", limits={"a": (-1.0, 1.0)})
OVERSHOOTING = points([0.5, 1.0], [[0.9], [0.9]], [[8.0], [0.0]])


def test_a_spline_that_overshoots_stops_at_the_limit():
    track, references = begin(LIMITED, OVERSHOOTING, q=0.0)
    free, unlimited = begin(ONE, OVERSHOOTING, q=0.0)
    times = np.arange(0.0, 1.0, STEP)
    found, wanted = walk(track, references, times), walk(free, unlimited, times)
    assert wanted[:, 0, 0].max() > 1.2
    np.testing.assert_array_equal(found[:, 0, 0], np.clip(wanted[:, 0, 0], -1.0, 1.0))


@pytest.mark.parametrize("beyond", [1.4, -1.4])
def test_references_beyond_a_limit_return_without_a_jump(beyond):
    track, references = begin(LIMITED, points([1.0], [[0.0]]), q=beyond)
    times = np.arange(0.0, 1.0, STEP)
    rows = walk(track, references, times)
    np.testing.assert_allclose(rows[:, 0, 0], beyond * (1 - times), atol=1e-12)


# --- efforts, parts of robots, times


def test_feed_forward_effort_starts_linearly_from_its_reference():
    arrays = points([1.0, 2.0], [[0.0], [0.0]], [[0.0], [0.0]], tau=[[3.0], [-1.0]])
    track, references = begin(ONE, arrays, q=0.0, tau=5.0)
    rows = walk(track, references, [0.0, 0.5, 1.0, 1.5, 2.5])
    np.testing.assert_allclose(rows[:, 2, 0], [5.0, 4.0, 3.0, 1.0, -1.0])


def test_it_writes_its_own_joints_and_no_released_ones():
    joints = some_joints("abcd")
    references = References(np.full((3, 4), 7.0))
    references.dq[:] = references.tau[:] = 0.0
    arrays = points([1.0], [[1.0, 2.0, 3.0]], [[0.0] * 3])
    track = TrajectoryFollower(check(joints, "dab", arrays), joints, references, np.zeros(4), 0.0)
    track.update(0.5)
    assert references.q.tolist() == pytest.approx([4.5, 5.0, 7.0, 4.0])
    track.release(np.array([0, 2]))
    assert track.joints.tolist() == [3, 1]
    assert len(track.acceleration(0.5)) == 2
    references.q[0] = -9.0
    for time in (0.9, 1.1):
        track.update(time)
        assert references.q[[0, 2]].tolist() == [-9.0, 7.0]
    assert references.q[[1, 3]].tolist() == [3.0, 1.0]


def test_waypoints_that_coincide_at_late_times_are_valid():
    late = 2.0**30
    arrays = points([0.01, 0.01 + 1e-9, 0.02], [[1.0], [1.1], [2.0]])
    track, references = begin(ONE, arrays, q=0.0, time=late)
    rows = walk(track, references, late + np.arange(0.0, 0.03, STEP))
    assert np.isfinite(rows).all()
    assert rows[-1, 0, 0] == 2.0


def test_the_velocity_is_zero_where_the_position_stops_at_a_limit():
    joints = some_joints("a", limits={"a": (-1.0, 1.0)})
    track, references = begin(joints, points([1.0], [[0.9]], [[0.0]]), q=0.8, dq=3.0)
    rows = walk(track, references, np.arange(0.0, 1.0, STEP))[:, :, 0]
    at_limit = rows[:, 0] == 1.0
    assert at_limit.any()
    assert rows[:, 0].max() == 1.0
    assert not rows[at_limit, 1].any()
