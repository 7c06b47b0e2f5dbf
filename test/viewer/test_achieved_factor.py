"""The measured real-time factor."""

import pytest

from mujoco_ros.viewer.achieved_factor import AchievedFactor


def test_the_factor_is_that_of_the_last_second():
    achieved = AchievedFactor()
    assert achieved.value is None
    simulated = 0.0
    for step in range(100):
        simulated += 0.02 if step < 50 else 0.005
        achieved.add(0.02 * step, simulated)
    assert achieved.value == pytest.approx(0.25, abs=0.05)


def test_a_step_back_in_time_starts_the_measurement_again():
    achieved = AchievedFactor()
    for step in range(50):
        achieved.add(0.02 * step, 0.02 * step)
    achieved.add(1.0, 0.0)
    assert achieved.value is None
