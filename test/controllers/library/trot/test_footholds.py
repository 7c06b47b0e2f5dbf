"""Footholds keep the velocity of a pendulum, or change it."""

from math import cosh, sinh

import numpy as np
import pytest

from mujoco_ros.controllers.library.trot.gait import foothold, ground_plane

OMEGA, STANCE = 5.0, 0.29


def after_stance(velocity: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Return the velocity of a pendulum over a support after the stance [m/s].  # (2,)"""
    phase = OMEGA * STANCE
    return -OMEGA * support * sinh(phase) + velocity * cosh(phase)


def test_a_foothold_keeps_a_velocity():
    velocity = np.array([0.4, -0.1])
    support = foothold(velocity, velocity, OMEGA, STANCE, 0.7)
    np.testing.assert_allclose(after_stance(velocity, support), velocity, atol=1e-12)


def test_a_foothold_with_full_gain_changes_the_velocity_in_one_step():
    velocity, wanted = np.array([0.2, 0.1]), np.array([0.4, 0.0])
    support = foothold(velocity, wanted, OMEGA, STANCE, 1.0)
    np.testing.assert_allclose(after_stance(velocity, support), wanted, atol=1e-12)


def test_a_foothold_stays_within_reach():
    support = foothold(np.array([3.0, 4.0]), np.zeros(2), OMEGA, STANCE, 1.0)
    assert np.hypot(*support) == pytest.approx(0.15)
    assert support[1] / support[0] == pytest.approx(4.0 / 3.0)


def test_the_ground_under_four_feet_is_a_plane():
    feet = np.array([(0.3, 0.1, 0.0), (0.2, -0.2, 0.0), (-0.2, 0.15, 0.0), (-0.3, -0.1, 0.0)])
    feet[:, 2] = 0.02 + feet[:, :2] @ (0.1, -0.05)
    middle, slope = ground_plane(feet)
    np.testing.assert_allclose(middle, feet.mean(axis=0))
    np.testing.assert_allclose(slope, (0.1, -0.05), atol=1e-12)
