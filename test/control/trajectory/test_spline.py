"""Splines compared with their definition and with scipy."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly, CubicHermiteSpline

from mujoco_ros.control.trajectory.spline import Cursor, Waypoints, spline

JOINTS = 3


def waypoints(seed: int, degrees: list[int], durations: list[float]) -> Waypoints:
    """Random points; fields that a degree does not use are zero, as in a trajectory."""
    rng = np.random.default_rng(seed)
    degree = np.array(degrees)
    q, dq, ddq, tau = rng.uniform(-3, 3, size=(4, len(degrees), JOINTS))
    dq[degree < 3] = 0.0
    ddq[degree < 5] = 0.0
    times = np.concatenate([[0.0], np.cumsum(durations[: len(degrees) - 1])]) + rng.uniform(0, 2)
    return Waypoints(times=times, q=q, dq=dq, ddq=ddq, tau=tau, degree=degree)


def random_waypoints(degrees: st.SearchStrategy[int], durations: st.SearchStrategy[float]):
    return st.builds(
        lambda seed, pairs: waypoints(seed, [d for d, _ in pairs], [t for _, t in pairs]),
        st.integers(0, 2**32),
        st.lists(st.tuples(degrees, durations), min_size=2, max_size=6),
    )


MIXED = random_waypoints(st.sampled_from([1, 3, 5]), st.floats(0.05, 3.0))


def reference(points: Waypoints, segment: int):
    """The positions of one segment by scipy: a function of time that has derivatives."""
    ends = slice(segment, segment + 2)
    derivatives = {1: 1, 3: 2, 5: 3}[int(points.degree[ends].min())]
    rows = np.stack([points.q[ends], points.dq[ends], points.ddq[ends]], axis=1)
    return BPoly.from_derivatives(points.times[ends], rows[:, :derivatives])


@settings(max_examples=60)
@given(MIXED, st.integers(1, 30))
def test_every_segment_is_the_hermite_polynomial_of_its_ends(points, samples):
    cursor = Cursor(spline(points))
    for segment, (begin, end) in enumerate(itertools.pairwise(points.times)):
        exact = reference(points, segment)
        for time in np.linspace(begin, end, samples, endpoint=False):
            cursor.move(time)
            assert cursor.segment == segment
            q, dq, _ = cursor.values
            scale = 1 + np.abs(points.q).max() + 1 / (end - begin) ** 2
            np.testing.assert_allclose(q, exact(time), atol=1e-12 * scale)
            np.testing.assert_allclose(dq, exact.derivative()(time), atol=1e-11 * scale)
            np.testing.assert_allclose(
                cursor.acceleration(time), exact.derivative(2)(time), atol=1e-10 * scale
            )


@settings(max_examples=60)
@given(MIXED)
def test_a_spline_passes_its_points_with_their_derivatives(points):
    cursor = Cursor(spline(points))
    last = len(points.times) - 1
    for i, time in enumerate(points.times):
        cursor.move(time)
        q, dq, tau = cursor.values
        segment = min(i, last - 1)
        degree = points.degree[segment : segment + 2].min()
        if i < last:  # where a segment begins it is exact, not just close
            np.testing.assert_array_equal(q, points.q[i])
            np.testing.assert_array_equal(tau, points.tau[i])
        np.testing.assert_allclose(q, points.q[i], atol=1e-12)
        np.testing.assert_allclose(tau, points.tau[i], atol=1e-12)
        if degree >= 3:
            np.testing.assert_allclose(dq, points.dq[i], atol=1e-10)
        if degree == 5:
            acceleration = cursor.acceleration(time)
            np.testing.assert_allclose(acceleration, points.ddq[i], rtol=1e-9, atol=1e-7)


def test_cubic_segments_equal_the_hermite_spline_of_scipy():
    points = waypoints(3, [3] * 6, [0.4, 1.1, 0.05, 2.0, 0.3])
    exact = CubicHermiteSpline(points.times, points.q, points.dq)
    cursor = Cursor(spline(points))
    for time in np.linspace(points.times[0], points.times[-1], 300):
        cursor.move(time)
        np.testing.assert_allclose(cursor.values[0], exact(time), atol=1e-12)
        np.testing.assert_allclose(cursor.values[1], exact(time, 1), atol=1e-11)


@settings(max_examples=30)
@given(MIXED)
def test_velocities_and_accelerations_are_derivatives(points):
    step = 1e-6
    curve = spline(points)
    for begin, end in itertools.pairwise(points.times):
        time = 0.6 * begin + 0.4 * end
        rows = []
        for t in (time - step, time, time + step):
            cursor = Cursor(curve)
            cursor.move(t)
            rows.append(np.concatenate([cursor.values[:2].ravel(), cursor.acceleration(t)]))
        before, here, after = rows
        slope = (after - before) / (2 * step)
        size = 1 + np.abs(here).max() / (end - begin) ** 2
        np.testing.assert_allclose(slope[: 2 * JOINTS], here[JOINTS:], atol=1e-6 * size)


@settings(max_examples=30)
@given(MIXED)
def test_efforts_are_interpolated_linearly(points):
    cursor = Cursor(spline(points))
    for time in np.linspace(points.times[0], points.times[-1], 40):
        cursor.move(time)
        expected = [np.interp(time, points.times, tau) for tau in points.tau.T]
        np.testing.assert_allclose(cursor.values[2], expected, atol=1e-12)


@settings(max_examples=60)
@given(MIXED, st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_cursor_can_skip_any_number_of_segments(points, fractions):
    curve = spline(points)
    begin, end = points.times[[0, -1]]
    traveller = Cursor(curve)
    for time in begin + np.sort(fractions) * (end - begin):
        traveller.move(time)
        newcomer = Cursor(curve)
        newcomer.move(time)
        assert traveller.segment == newcomer.segment
        np.testing.assert_array_equal(traveller.values, newcomer.values)
        np.testing.assert_array_equal(traveller.acceleration(time), newcomer.acceleration(time))


@pytest.mark.parametrize("duration", [1e-9, 1e-6, 1e4, 1e9])
def test_tiny_and_huge_durations_lose_no_accuracy(duration):
    points = waypoints(5, [5, 5, 5], [duration, duration])
    start = points.times[0] if duration > 1 else 0.0  # nanoseconds need time to begin at zero
    begin = points.times - points.times[0] + start
    scaled = Waypoints(
        times=begin,
        q=points.q,
        dq=points.dq / duration,
        ddq=points.ddq / duration**2,
        tau=points.tau,
        degree=points.degree,
    )
    unit = Waypoints(
        times=np.arange(3.0),
        q=points.q,
        dq=points.dq,
        ddq=points.ddq,
        tau=points.tau,
        degree=points.degree,
    )
    cursor, exact = Cursor(spline(scaled)), Cursor(spline(unit))
    for s in np.linspace(0.0, 1.99, 20):
        cursor.move(begin[0] + s * duration)
        exact.move(s)
        np.testing.assert_allclose(cursor.values[0], exact.values[0], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(
            cursor.values[1] * duration, exact.values[1], rtol=1e-5, atol=1e-5
        )


def test_values_are_written_to_the_same_array():
    cursor = Cursor(spline(waypoints(1, [5, 3, 1], [1.0, 1.0])))
    values = cursor.values
    cursor.move(2.5)
    assert cursor.values is values
