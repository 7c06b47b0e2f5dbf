"""The motion of a swing foot is continuous, and its derivatives belong to it."""

import numpy as np
import pytest

from mujoco_ros.controllers.library.trot.gait import TOUCHDOWN_VELOCITY, swing_point

START, GOAL = np.array([0.1, 0.2, 0.02]), np.array([0.3, 0.15, 0.0])
DURATION, HEIGHT = 0.25, 0.07


def at(s: float):
    return swing_point(START, GOAL, HEIGHT, s, DURATION)


def test_it_leads_from_the_start_over_the_apex_to_the_goal():
    np.testing.assert_allclose(at(0.0).position, START, atol=1e-12)
    np.testing.assert_allclose(at(1.0).position, GOAL, atol=1e-12)
    np.testing.assert_allclose(at(0.0).velocity, 0.0, atol=1e-12)
    np.testing.assert_allclose(at(1.0).velocity, (0.0, 0.0, -TOUCHDOWN_VELOCITY), atol=1e-12)
    heights = [at(s).position[2] for s in np.linspace(0.0, 1.0, 1001)]
    assert max(heights) == pytest.approx(START[2] + HEIGHT, abs=1e-3)


@pytest.mark.parametrize("s", [0.1, 0.3, 0.44, 0.46, 0.7, 0.95])
def test_velocity_and_acceleration_are_derivatives(s):
    step = 1e-5
    before, now, after = at(s - step), at(s), at(s + step)
    span = 2.0 * step * DURATION
    np.testing.assert_allclose(now.velocity, (after.position - before.position) / span, atol=1e-5)
    slope = (after.velocity - before.velocity) / span
    np.testing.assert_allclose(now.acceleration, slope, atol=1e-3)
