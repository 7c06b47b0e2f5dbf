import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mujoco_ros.sim.stepping.histogram import Histogram


def test_percentiles_of_nothing_are_not_a_number():
    assert all(math.isnan(value) for value in Histogram().percentiles(50, 99))


@given(st.lists(st.integers(0, 19_999), min_size=1, max_size=200))
def test_percentiles_are_those_of_the_samples_to_a_microsecond(samples):
    histogram = Histogram()
    for sample in samples:
        histogram.add((sample + 0.5) * 1e-6)
    for percent, value in zip((1, 50, 99, 100), histogram.percentiles(1, 50, 99, 100), strict=True):
        exact = np.percentile(samples, percent, method="inverted_cdf")
        assert value == pytest.approx((exact + 1) * 1e-6, abs=1e-9)


def test_durations_beyond_the_limit_count_as_the_limit():
    histogram = Histogram(limit_us=100)
    for duration in (1.0, 1e9, -1e-3):
        histogram.add(duration)
    assert histogram.percentiles(50) == pytest.approx((101e-6,))


def test_a_cleared_histogram_is_empty():
    histogram = Histogram()
    histogram.add(1e-3)
    histogram.clear()
    assert math.isnan(histogram.percentiles(50)[0])
    histogram.add(5e-6)
    assert histogram.percentiles(50) == pytest.approx((6e-6,))
