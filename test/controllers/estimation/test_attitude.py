"""The tilt converges to that of gravity, and the bias of a gyroscope is found."""

import numpy as np
import pytest

from mujoco_ros.controllers.estimation.base_estimator import AttitudeFilter, EstimatorConfig
from mujoco_ros.model.pose import Pose

PERIOD = 0.005
TILTED = np.array([np.cos(0.2), np.sin(0.2), 0.0, 0.0])


def axes(quat: np.ndarray) -> np.ndarray:
    return Pose(quat_wxyz=quat).matrix


@pytest.fixture
def attitude() -> AttitudeFilter:
    return AttitudeFilter(EstimatorConfig(tilt_gain=0.5, bias_gain=0.05), 9.81)


def at_rest(attitude: AttitudeFilter, seconds: float, bias: np.ndarray) -> None:
    force = axes(TILTED).T @ (0.0, 0.0, 9.81)
    for _ in range(round(seconds / PERIOD)):
        attitude.update(bias, force, PERIOD)


def test_the_tilt_of_a_resting_imu_is_known_at_once(attitude):
    at_rest(attitude, 0.1, np.zeros(3))
    up = axes(attitude.quat_wxyz)[2]
    np.testing.assert_allclose(up, axes(TILTED)[2], atol=1e-3)


def test_a_horizontal_bias_is_found_at_rest(attitude):
    bias = np.array([0.02, -0.01, 0.0])
    at_rest(attitude, 120.0, bias)
    error = axes(TILTED) @ (attitude.bias - bias)  # nothing measures its vertical part
    np.testing.assert_allclose(error[:2], 0.0, atol=1e-3)
    np.testing.assert_allclose(axes(attitude.quat_wxyz)[2], axes(TILTED)[2], atol=2e-3)


def test_a_rotation_is_integrated(attitude):
    rate, gravity = np.array([0.0, 0.0, 0.7]), np.array([0.0, 0.0, 9.81])
    for _ in range(200):
        attitude.update(rate, gravity, PERIOD)
    turned = np.arctan2(*axes(attitude.quat_wxyz)[[1, 0], 0])
    assert turned == pytest.approx(0.7, abs=1e-6)


def test_a_strong_acceleration_does_not_tilt(attitude):
    at_rest(attitude, 10.0, np.zeros(3))
    before = axes(attitude.quat_wxyz)[2].copy()
    for _ in range(100):
        attitude.update(np.zeros(3), np.array([15.0, 0.0, 9.81]), PERIOD)
    np.testing.assert_allclose(axes(attitude.quat_wxyz)[2], before, atol=1e-3)


def test_a_reset_forgets_tilt_and_bias(attitude):
    at_rest(attitude, 10.0, np.array([0.02, 0.0, 0.0]))
    attitude.reset()
    np.testing.assert_array_equal(attitude.quat_wxyz, (1.0, 0.0, 0.0, 0.0))
    np.testing.assert_array_equal(attitude.bias, np.zeros(3))
