"""An orientation that is entered as angles."""

import numpy as np
import pytest

from mujoco_ros.viewer.entered_angles import EnteredAngles


def test_angles_stay_as_entered_until_the_orientation_is_another():
    entered = EnteredAngles()
    quat = entered.enter((180.0, 180.0, 0.0))
    assert entered.angles(quat) == (180.0, 180.0, 0.0)
    half = np.sqrt(0.5)
    assert entered.angles((0.0, 0.0, half, half)) == pytest.approx((0.0, 0.0, 90.0))
    assert entered.enter((0.0, 0.0, 90.0)) == pytest.approx((0.0, 0.0, half, half))


def test_what_is_no_orientation_has_no_angles():
    for quat in ((0.0,) * 4, (np.inf, 0.0, 0.0, 1.0)):
        assert EnteredAngles().angles(quat) == (0.0, 0.0, 0.0)
