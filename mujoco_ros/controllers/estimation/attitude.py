"""Orientation from an IMU without a magnetometer."""

from math import exp

import mujoco
import numpy as np


class AttitudeFilter:
    """Complementary filter of angular velocity and specific force.

    The angular velocity is integrated; the direction of the specific force corrects the tilt and
    the bias of the gyroscope, as long as its magnitude is near that of gravity. At first, the mean
    of the measured tilts is used. Yaw begins at zero and drifts with the bias about the vertical,
    which nothing measures.

    Source: R. Mahony, T. Hamel, J.-M. Pflimlin, Nonlinear Complementary Filters on the Special
    Orthogonal Group, IEEE Transactions on Automatic Control 53(5), 2008, section V.

    Attributes:
        quat_wxyz: Orientation of the IMU in ``world``.  # (4,)
        bias: Bias of the gyroscope [rad/s].  # (3,)
    """

    def __init__(self, *, gain: float, bias_gain: float, gravity: float, tolerance: float) -> None:
        """Begin upright.

        Args:
            gain: Correction of the tilt [1/s].
            bias_gain: Correction of the bias [1/s²].
            gravity: Magnitude of gravity [m/s²].
            tolerance: Deviation of the specific force from gravity that reduces the correction to
                1/e, as part of gravity.
        """
        self._gain, self._bias_gain = gain, bias_gain
        self._gravity, self._tolerance = gravity, tolerance
        self.quat_wxyz, self.bias = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)
        self._axes, self._rate, self._error = np.zeros(9), np.zeros(3), np.zeros(3)
        self._age = 0.0

    def reset(self) -> None:
        """Begin again, upright."""
        self.quat_wxyz[:] = 1.0, 0.0, 0.0, 0.0
        self.bias[:] = 0.0
        self._age = 0.0

    def update(self, rate: np.ndarray, force: np.ndarray, period: float) -> None:
        """Use a measurement: angular velocity [rad/s] and specific force [m/s²].  # (3,) each"""
        size = float(np.sqrt(force @ force))
        np.subtract(rate, self.bias, out=self._rate)
        self._age += period
        if size > 0.0 and period > 0.0:
            mujoco.mju_quat2Mat(self._axes, self.quat_wxyz)
            up = self._axes[6:]  # the vertical in the frame of the IMU
            deviation = (size / self._gravity - 1.0) / self._tolerance
            mujoco.mju_cross(self._error, force, up)
            error = self._error * (exp(-deviation * deviation) / size)
            # At the start, the mean of all measurements so far.
            gain = max(self._gain, 1.0 / self._age)
            if gain == self._gain:
                self.bias -= self._bias_gain * period * error
            self._rate += gain * error
        mujoco.mju_quatIntegrate(self.quat_wxyz, self._rate, period)
        mujoco.mju_normalize4(self.quat_wxyz)
