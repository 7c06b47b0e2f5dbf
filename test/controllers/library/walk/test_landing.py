"""Contact of the swing foot that comes early or late."""

import numpy as np
import pytest

from mujoco_ros.controllers.library.walk.foot_motion import (
    APPROACH_VELOCITY,
    TOUCHDOWN,
    Landing,
    swing,
)
from mujoco_ros.controllers.library.walk.footsteps import LEFT, RIGHT, Footstep, on_slope

START, GOAL = Footstep(LEFT, 0.0, 0.1, 0.0, 0.0), Footstep(LEFT, 0.3, 0.1, 0.2, 0.02)
DURATION, HEIGHT, WEIGHT, PERIOD = 0.7, 0.05, 600.0, 0.005


def sole(s: float) -> np.ndarray:
    return swing(START, GOAL, HEIGHT, s, DURATION)[0]


def test_a_swing_reaches_its_apex_and_its_goal_without_a_jump_of_its_velocity():
    places = np.array([sole(s) for s in np.linspace(0.0, 1.0, 2001)])
    assert places[:, 2].max() == pytest.approx(0.07, abs=1e-4)
    np.testing.assert_allclose(places[-1], (0.3, 0.1, 0.02), atol=1e-12)
    rates = np.diff(places, axis=0) / (DURATION / 2000)
    np.testing.assert_allclose(rates[0], 0.0, atol=1e-3)
    jumps = np.abs(np.diff(rates, axis=0)).max(axis=1)
    assert np.sort(jumps)[-2] < 0.005
    assert jumps.max() == pytest.approx(APPROACH_VELOCITY, rel=0.1), "where the foot lands"
    before = sole(TOUCHDOWN - 0.05)[2] - sole(TOUCHDOWN - 0.04)[2]
    assert before == pytest.approx(0.01 * DURATION * APPROACH_VELOCITY)


def test_a_foot_that_touches_the_ground_early_stays_there():
    landing = Landing(WEIGHT)
    landing.begin()
    landing.step(sole(0.3), 0.3, 200.0, PERIOD)  # of its own acceleration
    assert not landing.has_landed
    landing.step(sole(0.88), 0.88, 0.0, PERIOD)
    height = float(landing.position[2])
    landing.step(sole(0.89), 0.89, 200.0, PERIOD)
    assert landing.has_landed
    assert landing.position[2] >= height, "a foot with too much load is not pressed down further"
    landing.step(sole(0.95), 0.95, 48.0, PERIOD)
    np.testing.assert_allclose(landing.position[:2], sole(0.88)[:2])


def test_a_foot_that_does_not_touch_the_ground_is_lowered_until_it_does():
    landing = Landing(WEIGHT)
    landing.begin()
    for s in np.arange(TOUCHDOWN, 1.0, PERIOD / DURATION):
        landing.step(sole(s), s, 0.0, PERIOD)
    depth = 0.02 - float(landing.position[2])
    assert depth == pytest.approx((1.0 - TOUCHDOWN) * DURATION * APPROACH_VELOCITY, rel=0.15)
    down = [landing.search(0.0, PERIOD) for _ in range(20)]
    assert sum(down) == pytest.approx(20 * PERIOD * APPROACH_VELOCITY)
    assert landing.search(200.0, PERIOD) == 0.0
    assert landing.has_landed


def test_a_search_ends_at_its_largest_depth():
    landing = Landing(WEIGHT)
    landing.begin()
    assert sum(landing.search(0.0, PERIOD) for _ in range(1000)) < 0.05
    assert not landing.has_landed


def test_a_footstep_is_on_the_plane_through_the_support_foot():
    support = Footstep(RIGHT, 1.0, 2.0, 0.0, 0.5)
    step = on_slope(Footstep(LEFT, 1.2, 2.1, 0.0), support, np.array([0.1, -0.2]))
    assert step.z == pytest.approx(0.5 + 0.02 - 0.02)


def test_a_corner_that_has_slipped_off_is_lowered_again_without_a_jump_of_its_velocity():
    landing = Landing(WEIGHT)
    landing.begin()
    landing.step(sole(0.85), 0.85, 0.0, PERIOD)
    landing.step(sole(0.86), 0.86, 100.0, PERIOD)
    assert landing.has_landed
    heights = []
    for _ in range(100):
        landing.step(sole(0.9), 0.9, -20.0, PERIOD)
        heights.append(float(landing.position[2]))
    velocities = np.diff(heights) / PERIOD
    assert heights[0] - heights[-1] > 0.03, "it continues down, to the largest depth"
    assert velocities.min() == pytest.approx(-APPROACH_VELOCITY)
    assert np.abs(np.diff(velocities[:80])).max() < 0.011
