"""How fast simulated time goes by."""

import pytest

from mujoco_ros.viewer.panels.achieved import AchievedFactor


def test_the_factor_is_that_of_the_last_second():
    achieved = AchievedFactor()
    assert achieved.value is None
    simulated = 0.0
    for step in range(100):
        simulated += 0.02 if step < 50 else 0.005
        achieved.note(0.02 * step, simulated)
    assert achieved.value == pytest.approx(0.25, abs=0.05)


def test_the_factor_is_measured_anew_when_the_time_goes_back():
    achieved = AchievedFactor()
    for step in range(50):
        achieved.note(0.02 * step, 0.02 * step)
    achieved.note(1.0, 0.0)
    assert achieved.value is None
