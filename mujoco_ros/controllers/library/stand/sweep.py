"""Interpolation between configurations."""

import numpy as np
from scipy.interpolate import CubicSpline

from mujoco_ros.model.errors import UserInputError


class ConfigurationSweep:
    """Joint positions as a smooth function of one number.

    Attributes:
        lower: Smallest value of the number.
        upper: Largest value of the number.
    """

    def __init__(self, values: np.ndarray, configurations: np.ndarray) -> None:
        """Interpolate configurations with a cubic spline.

        Args:
            values: The numbers, increasing.  # (m,)
            configurations: Joint positions at each number.  # (m, k)

        Raises:
            UserInputError: There is only one configuration.
        """
        if len(values) < 2:
            raise UserInputError(
                "the robot cannot leave its initial configuration with its feet in place"
            )
        self.lower, self.upper = float(values[0]), float(values[-1])
        self._curve = CubicSpline(values, configurations)

    def at(self, value: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities at a value and its rate of change.  # (k,) each"""
        return self._curve(value), self._curve(value, 1) * rate
