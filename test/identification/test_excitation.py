import numpy as np
import pytest

from mujoco_ros.identification.excitation import Excitation, excite

TIMES = np.arange(0.0, 10.0005, 0.001)
MOTION = Excitation(amplitude=0.4, duration=10.0, seed=3)


def test_the_motion_begins_and_ends_at_rest_and_stays_within_its_amplitude():
    offset, speed = excite(MOTION, 4, TIMES)
    assert offset[[0, -1]] == pytest.approx(np.zeros((2, 4)), abs=1e-9)
    assert speed[[0, -1]] == pytest.approx(np.zeros((2, 4)), abs=1e-6)
    assert np.abs(offset).max() <= 0.4
    assert (np.ptp(offset, axis=0) > 0.4).all()


def test_the_velocity_is_the_derivative():
    offset, speed = excite(MOTION, 2, TIMES)
    assert np.gradient(offset, 0.001, axis=0)[1:-1] == pytest.approx(speed[1:-1], abs=1e-3)


def test_joints_and_seeds_differ():
    minute = np.arange(0.0, 60.0, 0.01)
    offset, _ = excite(Excitation(seed=3), 6, minute)
    assert np.abs(np.corrcoef(offset.T) - np.eye(6)).max() < 0.5
    other, _ = excite(Excitation(seed=4), 6, minute)
    assert not np.allclose(offset, other)
