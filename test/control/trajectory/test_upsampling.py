"""Chunks of positions: their curve, and the transitions between chunks.

Names and conditions are those of ros2_controllers, pull request 2491 (positions_upsampling). Chunks
there begin and end at rest; a continuous transition is named there as future work.
"""

import numpy as np
import pytest
from commanded_robot import CommandedRobot, points, some_joints
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly, CubicSpline

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.trajectory.spline import Cursor, Waypoints
from mujoco_ros.control.trajectory.trajectory import chunk_curve

STEP = 0.001
BLEND = 0.1


def robot(names="a", *, frequency=0.0, blend=BLEND, step=0, **options) -> CommandedRobot:
    commanded = CommandedRobot(some_joints(names, **options), timestep=STEP, step=step)
    commanded.configure(positions_upsampling=True, policy_frequency=frequency, blend_time=blend)
    return commanded


def chunk(times, q) -> Waypoints:
    q = np.asarray(q, dtype=float).reshape(len(times), -1)
    zeros = np.zeros_like(q)
    return Waypoints(
        times=np.asarray(times, dtype=float),
        q=q,
        dq=zeros,
        ddq=zeros,
        tau=zeros,
        degree=np.ones(len(q), dtype=int),
    )


def sampled(curve, times) -> np.ndarray:
    """Return position, velocity and acceleration of the first joint.  # (times, 3)"""
    cursor = Cursor(curve)
    rows = []
    for time in times:
        cursor.move(float(time))
        rows.append([*cursor.values[:2, 0], cursor.acceleration(float(time))[0]])
    return np.array(rows)


def send(commanded: CommandedRobot, times, q, start=None, names=None) -> None:
    """Send a chunk to the first joint, or to some."""
    rows = np.asarray(q, dtype=float).reshape(len(times), -1)
    commanded.follow(names or ["a"], points(times, rows), start=start, upsampled=True)


def state(commanded: CommandedRobot, joint=0) -> np.ndarray:
    """Take a step; return position, velocity and acceleration of its references."""
    q, dq, _ = commanded.step()
    ddq = commanded.control.trajectory.accelerations(commanded.time - STEP)
    return np.array([q[joint], dq[joint], ddq[joint]])


# --- the curve of a chunk


@settings(max_examples=40)
@given(
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
    st.lists(st.floats(0.01, 0.5), min_size=4, max_size=12),
)
def test_the_positions_of_a_cubic_give_that_cubic_until_the_last_but_one(coefficients, gaps):
    times = 0.3 + np.cumsum(gaps)
    cubic = np.polynomial.Polynomial(coefficients)
    curve = chunk_curve(chunk(times, cubic(times)))
    along = np.linspace(times[0], times[-2], 50)
    exact = np.stack([cubic(along), cubic.deriv()(along), cubic.deriv(2)(along)], axis=1)
    np.testing.assert_allclose(sampled(curve, along), exact, atol=1e-6)
    ends = [[cubic.deriv(k)(times[-2]) for k in range(3)], [cubic(times[-1]), 0.0, 0.0]]
    last = BPoly.from_derivatives(times[-2:], ends)
    along = np.linspace(times[-2], times[-1], 20, endpoint=False)
    exact = np.stack([last(along), last.derivative()(along), last.derivative(2)(along)], axis=1)
    np.testing.assert_allclose(sampled(curve, along), exact, atol=1e-5)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 12), st.floats(0.005, 0.5))
def test_the_curve_passes_all_positions_with_continuous_derivatives(seed, count, gap):
    rng = np.random.default_rng(seed)
    times = rng.uniform(0, 2) + np.cumsum(rng.uniform(gap, 2 * gap, count))
    q = rng.uniform(-1, 1, count)
    curve = chunk_curve(chunk(times, q))
    np.testing.assert_allclose(sampled(curve, times)[:, 0], q, atol=1e-12)
    knots = curve.begin[1:]
    left = [sampled_segment(curve, segment, float(knot)) for segment, knot in enumerate(knots)]
    right = [sampled_segment(curve, segment + 1, float(knot)) for segment, knot in enumerate(knots)]
    scale = np.array([1, 1 / gap, 1 / gap**2])
    np.testing.assert_allclose(np.array(left) / scale, np.array(right) / scale, atol=1e-9)


def sampled_segment(curve, segment: int, time: float) -> list[float]:
    """Evaluate a segment, also at its end."""
    rows = curve.q[segment, :, 0]
    duration = curve.duration[segment]
    polynomial = np.polynomial.Polynomial(rows)
    s = (time - curve.begin[segment]) / duration
    return [polynomial.deriv(k)(s) / duration**k for k in range(3)]


def test_it_comes_to_rest_at_the_last_position_and_stays():
    curve = chunk_curve(chunk([0.1, 0.2, 0.3], [0.0, 1.0, 3.0]))
    rows = sampled(curve, [0.3 - 1e-9, 0.3, 0.4, 100.0])
    np.testing.assert_allclose(rows[:, 0], 3.0, atol=1e-9)
    np.testing.assert_allclose(rows[:, 1], 0.0, atol=1e-5)
    assert rows[1:].tolist() == [[3.0, 0.0, 0.0]] * 3


def test_before_the_first_waypoint_the_acceleration_fades_and_the_velocity_stays():
    times, q = np.array([1.0, 1.1, 1.2, 1.3, 1.4]), np.array([0.0, 0.3, 0.1, 0.2, 0.0])
    curve = chunk_curve(chunk(times, q))
    first = CubicSpline(times, q)  # its first polynomial continues for the duration of a segment
    along = np.linspace(0.9, 1.0, 10)
    exact = np.stack([first(along, k) for k in range(3)], axis=1)
    np.testing.assert_allclose(sampled(curve, along), exact, atol=1e-9)
    p, v, a = exact[0]
    for before in (0.0, 0.03, 0.1):
        # The acceleration is a (1 - before / 0.1): integrated back from 0.9 s.
        expected = [
            p - v * before + a * (before**2 / 2 - before**3 / 0.6),
            v - a * (before - before**2 / 0.2),
            a * (1 - before / 0.1),
        ]
        np.testing.assert_allclose(sampled(curve, [0.9 - before])[0], expected, atol=1e-9)
    far = sampled(curve, [-50.0, -49.0])
    assert far[1, 0] - far[0, 0] == pytest.approx(v - a * 0.05)
    assert far[:, 2].tolist() == [0.0, 0.0]


# --- what is upsampled, as in test_trajectory_controller_upsampling.cpp of ros2_controllers


def test_chunks_without_times_get_them_from_the_policy_frequency():
    commanded = robot(frequency=30.0)
    checked = commanded.check(["a"], points([0.0] * 5, [[0.1]] * 5), upsampled=True)
    np.testing.assert_allclose(checked.points.times, np.arange(1, 6) / 30.0)


def test_times_of_a_chunk_stay():
    commanded = robot(frequency=30.0)
    arrays = points([0.0, 0.123, 0.246], [[0.0], [0.1], [0.2]])
    assert commanded.check(["a"], arrays, upsampled=True).points.times.tolist() == [
        0.0,
        0.123,
        0.246,
    ]


def test_chunks_without_times_are_rejected_without_a_policy_frequency():
    with pytest.raises(CommandError, match="times must rise"):
        robot().check(["a"], points([0.0] * 2, [[0.1]] * 2), upsampled=True)


@pytest.mark.parametrize(
    ("fields", "changes", "upsampled"),
    [
        ({}, {"positions_upsampling": False}, True),
        ({}, {"interpolation_method": "none"}, True),
        ({}, {}, False),  # an action goal
        ({"dq": [[0.5], [0.0]]}, {}, True),
        ({"dq": [[0.5], [0.0]], "ddq": [[0.0], [0.0]]}, {}, True),
        ({"dq": [None, [0.0]]}, {}, True),
    ],
)
def test_other_trajectories_are_unchanged(fields, changes, upsampled):
    commanded = robot()
    commanded.configure(**{"positions_upsampling": True} | changes)
    arrays = points([1.0, 2.0], [[1.0], [2.0]], **fields)
    assert commanded.check(["a"], arrays, upsampled=upsampled).path != "blended"


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(1, 2**61) | st.sampled_from([1, 2**60]), min_size=1, max_size=8),
    st.lists(st.floats(-1e9, 1e9) | st.floats(-2, 2), min_size=8, max_size=8),
    st.floats(0, 100),
)
def test_any_chunk_is_rejected_or_gives_finite_references(gaps, q, later):
    commanded = robot()
    times = np.cumsum(gaps) * 1e-9
    try:
        send(commanded, times, q[: len(times)])
    except CommandError:
        return
    for time in (0.0, later, times[0], times[-1] * (1 - 1e-12)):
        commanded.index = max(commanded.index, int(time / STEP))
        assert np.isfinite(state(commanded)).all()


def test_points_whose_times_are_too_uneven_are_rejected():
    with pytest.raises(CommandError, match="too uneven for a smooth curve; send velocities"):
        robot().check(["a"], points([1.0, 1.0 + 1e-9, 1e6], [[0.0], [1.0], [0.0]]), upsampled=True)


def test_it_is_off_by_default():
    commanded = CommandedRobot(some_joints("a"))
    arrays = points([1.0, 2.0], [[1.0], [2.0]])
    assert commanded.check(["a"], arrays, upsampled=True).path == "lead_in"


# --- transitions


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_at_a_splice_the_references_are_those_that_the_old_curve_would_have(data):
    draw = data.draw
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    commanded = robot(blend=draw(st.sampled_from([0.0, 0.03, 0.1, 0.4])))
    for _ in range(3):
        saved = commanded.control.save_state(), commanded.references.values.copy()
        old = state(commanded)
        commanded.control.reset()
        commanded.control.restore_state(saved[0])
        commanded.references.values[:] = saved[1]
        commanded.index -= 1
        count = draw(st.integers(1, 15))
        times = np.cumsum(rng.uniform(0.01, 0.05, count))
        late = draw(st.sampled_from([None, 0.0, 0.5, 0.99]))
        start = None if late is None else max(commanded.time - late * times[-1], 1e-6)
        send(commanded, times, rng.uniform(-1, 1, count), start)
        scale = np.array([1.0, 1e2, 1e4])
        np.testing.assert_allclose(state(commanded) / scale, old / scale, atol=1e-12)
        commanded.run(STEP * draw(st.integers(1, 300)))


def test_the_reference_is_the_new_curve_and_an_offset_that_fades_as_a_quintic():
    commanded = robot()
    old, new = np.array([0.0, 0.1, 0.3, 0.2, 0.5, 0.4]), np.array([0.2, 0.4, 0.1, 0.3, 0.6, 0.7])
    times = 0.1 * np.arange(1, 7)
    send(commanded, times, old)
    commanded.run(0.237)
    splice, start = commanded.time, 0.15
    send(commanded, times, new, start)
    now = state(commanded)
    through = CubicSpline(start + times, new)
    offset = BPoly.from_derivatives(
        [splice, splice + BLEND],
        [now - [through(splice, k) for k in range(3)], [0.0, 0.0, 0.0]],
    )
    while commanded.time < start + times[-2] - STEP:
        time = commanded.time
        exact = np.array([through(time, k) for k in range(3)])
        if time < splice + BLEND:
            exact += [offset.derivative(k)(time) if k else offset(time) for k in range(3)]
        np.testing.assert_allclose(state(commanded), exact, atol=1e-9)


def test_waypoints_in_the_past_are_dropped_and_later_ones_are_passed():
    commanded = robot(blend=0.0)
    send(commanded, [0.5], [0.0])
    commanded.run(0.25)
    times, q = 0.1 * np.arange(1, 7), np.array([9.0, 9.1, 0.2, 0.3, 0.1, 0.4])
    send(commanded, times, q, start=0.001)
    rows = commanded.run(0.5)
    reached = rows[np.round((times[2:] + 0.001 - 0.25) / STEP).astype(int), 0, 0]
    np.testing.assert_allclose(reached, q[2:], atol=1e-9)


def test_a_chunk_whose_stamp_is_in_the_future_begins_then():
    commanded = robot()
    send(commanded, [0.1, 0.2, 0.3], [0.1, 0.2, 0.2])
    twin = robot()
    send(twin, [0.1, 0.2, 0.3], [0.1, 0.2, 0.2])
    commanded.run(0.05)
    twin.run(0.05)
    send(commanded, [0.1, 0.2], [0.5, 0.6], start=0.15)
    np.testing.assert_array_equal(commanded.run(0.1), twin.run(0.1))
    assert commanded.run(0.4)[-1, 0, 0] == 0.6


def test_a_chunk_that_ends_within_the_blend_time_still_blends_for_that_time():
    commanded = robot()
    send(commanded, [0.002], [1.0])
    rows = commanded.run(0.2)[:, :, 0]
    exact = BPoly.from_derivatives([0.0, BLEND], [[-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    times = STEP * np.arange(100)
    np.testing.assert_allclose(rows[:100, 0], 1.0 + exact(times), atol=1e-12)
    assert rows[100:].tolist() == [[1.0, 0.0, 0.0]] * 100
    assert not commanded.control.active


def test_a_distant_first_waypoint_is_approached_over_the_whole_time():
    commanded = robot()
    send(commanded, [2.0, 2.02, 2.04, 2.06], [1.0, 1.0, 1.0, 1.0])
    rows = commanded.run(2.1)[:, :, 0]
    exact = BPoly.from_derivatives([0.0, 2.0], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(rows[:2000, 0], exact(STEP * np.arange(2000)), atol=1e-9)


def test_joints_that_a_chunk_leaves_out_stay_on_the_old_one():
    both, alone = robot("ab"), robot("ab")
    times, q = 0.1 * np.arange(1, 5), np.array([[0.1, 0.2], [0.3, 0.1], [0.2, 0.4], [0.0, 0.3]])
    for commanded in (both, alone):
        send(commanded, times, q, names=["a", "b"])
        commanded.run(0.15)
    send(both, times, q[:, 0] + 1)
    np.testing.assert_array_equal(both.run(0.5)[:, :, 1], alone.run(0.5)[:, :, 1])


def test_continuous_joints_take_the_shorter_direction():
    commanded = robot(continuous=["a"])
    commanded.references.q[:] = 4 * np.pi
    send(commanded, 0.02 * np.arange(1, 20), 0.01 * np.arange(1, 20))
    rows = commanded.run(1.0)[:, 0, 0]
    assert rows[-1] == pytest.approx(4 * np.pi + 0.19)
    assert np.ptp(rows) < 0.3


def test_a_curve_that_overshoots_a_limit_stays_at_it():
    commanded = robot(limits={"a": (-1.0, 1.0)})
    send(commanded, [0.1, 0.2, 0.3, 0.4], [0.0, 0.95, 0.95, 0.0])
    rows = commanded.run(0.6)[:, :, 0]
    assert rows[:, 0].max() == 1.0
    assert not rows[rows[:, 0] == 1.0, 1].any()


def test_a_saved_state_continues_with_the_same_bits():
    commanded = robot()
    send(commanded, 0.02 * np.arange(1, 20), np.sin(0.2 * np.arange(1, 20)))
    commanded.run(0.1)
    send(commanded, 0.02 * np.arange(1, 20), np.cos(0.2 * np.arange(1, 20)), start=0.09)
    commanded.run(0.03)
    saved, references = commanded.control.save_state(), commanded.references.values.copy()
    index, first = commanded.index, commanded.run(0.5)
    commanded.control.reset()
    commanded.control.restore_state(saved)
    commanded.references.values[:] = references
    commanded.index = index
    np.testing.assert_array_equal(commanded.run(0.5), first)


# --- a policy that sends chunks of 50 Hz, at 5 Hz, along a sine

AMPLITUDE, RATE = 0.5, 2 * np.pi * 0.5


def sine(time) -> np.ndarray:
    """Return position, velocity and acceleration.  # (times, 3)"""
    phase = RATE * np.asarray(time)
    q, dq = AMPLITUDE * np.sin(phase), AMPLITUDE * RATE * np.cos(phase)
    return np.stack([q, dq, -(RATE**2) * q], axis=-1)


def stream(commanded: CommandedRobot, *, latency: float, count: int, error=lambda _chunk: 0.0):
    """Return times, and position, velocity and acceleration of the references.

    A chunk has `count` waypoints, from 20 ms after its stamp on; the stamps are 0.2 s apart.
    """
    rows = []
    for k in range(3000):
        sent, rest = divmod(k - round(latency / STEP), 200)
        if sent >= 0 and not rest:
            times = 0.02 * np.arange(1, count + 1)
            stamp = 0.2 * sent or 1e-9
            send(commanded, times, sine(stamp + times)[:, 0] + error(sent), stamp)
        rows.append(state(commanded))
    return STEP * np.arange(3000), np.array(rows)


SETTLED = slice(500, None)
"""After the first chunk, which begins at rest."""


@pytest.mark.parametrize("latency", [0.0, 0.013, 0.05, 0.099])
def test_a_follow_up_before_the_last_but_one_waypoint_leaves_no_dip(latency):
    # The waypoints end 0.32 s after the stamp, and the last but one is at 0.3 s.
    time, rows = stream(robot(), latency=latency, count=16)
    error = np.abs(rows - sine(time))[SETTLED]
    assert error[:, 0].max() < 2e-6
    assert error[:, 1].max() < 1e-4, "of 1.57 rad/s"
    assert error[:, 2].max() < 0.05, "of 4.9 rad/s²"


def test_linear_interpolation_has_a_thousand_times_the_error():
    commanded = robot()
    commanded.configure(positions_upsampling=False)
    time, rows = stream(commanded, latency=0.05, count=16)
    error = np.abs(rows - sine(time))[SETTLED]
    # A chord of duration h is at most |acceleration| h² / 8 from the sine.
    chord = AMPLITUDE * RATE**2 * 0.02**2 / 8
    assert error[:, 0].max() == pytest.approx(chord, rel=0.02)
    assert error[:, 1].max() > 0.04


def test_the_reference_rests_at_the_last_position_if_no_follow_up_comes():
    commanded = robot()
    time, _ = stream(commanded, latency=0.05, count=16)
    end = 2.8 + 16 * 0.02
    row = commanded.run(end - time[-1])[-1]
    assert row[:2, 0].tolist() == [sine(end)[0], 0.0]


def test_a_late_follow_up_continues_without_a_jump():
    _, rows = stream(robot(), latency=0.15, count=16)
    # A velocity or acceleration that jumped would differ from the integral of the next one.
    for derivative, largest in ((0, 1e-5), (1, 4e-3)):
        integral = STEP * (rows[:-1, derivative + 1] + rows[1:, derivative + 1]) / 2
        np.testing.assert_allclose(np.diff(rows[:, derivative]), integral, atol=largest)


def test_predictions_that_disagree_are_joined_within_the_blend_time():
    offset = 0.01
    error = lambda sent: offset * (-1) ** sent  # noqa: E731
    time, rows = stream(robot(), latency=0.05, count=16, error=error)
    # The quintic offset of 2 · 10 mrad moves at most at 15/8 of its mean velocity.
    fastest = 15 / 8 * 2 * offset / BLEND
    deviation = np.abs(rows - sine(time))[SETTLED]
    assert deviation[:, 0].max() == pytest.approx(offset, rel=1e-3)
    assert deviation[:, 1].max() == pytest.approx(fastest, rel=1e-2)
    accelerating = 10 / np.sqrt(3) * 2 * offset / BLEND**2
    assert deviation[:, 2].max() == pytest.approx(accelerating, rel=1e-2)


def test_two_runs_have_the_same_bits():
    error = lambda sent: 0.003 * np.sin(7.0 * sent)  # noqa: E731
    runs = [stream(robot(), latency=0.05, count=16, error=error)[1] for _ in range(2)]
    np.testing.assert_array_equal(*runs)
