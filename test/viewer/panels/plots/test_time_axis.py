"""The axis of time of all plots."""

import pytest

from mujoco_ros.viewer.panels.plots.time_axis import SHORTEST_S, TimeAxis, padded


def test_a_range_follows_the_newest_sample_until_it_is_held():
    axis = TimeAxis(span_s=5.0)
    assert axis.range(12.0) == (7.0, 12.0)
    axis.hold(8.0, 9.0)
    assert axis.range(20.0) == (8.0, 9.0)
    axis.follow()
    assert axis.range(20.0) == (15.0, 20.0)


def test_a_held_range_has_a_least_span():
    axis = TimeAxis()
    axis.hold(8.0, 8.0)
    begin, end = axis.range(0.0)
    assert end - begin == pytest.approx(SHORTEST_S)
    assert 0.5 * (begin + end) == pytest.approx(8.0)


def test_cursors_begin_within_the_range():
    axis = TimeAxis(span_s=9.0)
    axis.put_cursors(9.0)
    assert axis.cursors == (3.0, 6.0)
    assert axis.range(20.0) == (0.0, 9.0), "which stays"


def test_values_have_margins():
    assert padded(1.0, 3.0) == pytest.approx((0.9, 3.1))


@pytest.mark.parametrize("value", [0.0, 1e-9, 5.0, -4000.0])
def test_rounding_errors_do_not_fill_the_axis(value):
    low, high = padded(value, value + 1e-12 * max(1.0, abs(value)))
    assert low < value < high
    assert high - low >= 1e-3 * max(1.0, abs(value))
