from math import pi

import numpy as np
import pytest

from mujoco_ros.controllers.library.walk.foot_motion import approach, slope_under, tilt_on


@pytest.mark.parametrize("yaw", [0.0, 0.7, -2.5])
def test_a_sole_on_the_ground_measures_its_slope(yaw):
    slope = np.array([0.04, -0.03])
    assert slope_under(tilt_on(slope, yaw), yaw) == pytest.approx(slope)


def test_the_toes_rise_on_ground_that_rises_ahead():
    rising = np.array([0.1, 0.0])
    assert tilt_on(rising, 0.0) == pytest.approx([0.0, -0.1])
    assert tilt_on(rising, pi / 2.0) == pytest.approx([-0.1, 0.0])


def test_a_sole_that_is_tilted_far_measures_no_steeper_ground_than_expected():
    assert slope_under(np.array([0.5, -0.05]), 0.0) == pytest.approx([0.05, 0.15])


def test_the_expected_slope_approaches_measured_ones_and_hardly_follows_an_edge():
    expected = np.zeros(2)
    approach(expected, np.array([0.04, 1.0]))
    assert expected == pytest.approx([0.006, 0.0075])
    for _ in range(100):
        approach(expected, np.array([0.04, 0.02]))
    assert expected == pytest.approx([0.04, 0.02], abs=1e-6)
