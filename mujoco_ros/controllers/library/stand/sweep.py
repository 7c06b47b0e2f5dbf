"""Postures along one quantity, and what lies between them."""

import numpy as np
from scipy.interpolate import CubicSpline

from mujoco_ros.model.errors import UserInputError


class Sweep:
    """Positions of joints as a smooth function of one number.

    Attributes:
        lower: Its smallest value.
        upper: Its largest value.
    """

    def __init__(self, values: np.ndarray, postures: np.ndarray) -> None:
        """Draw a curve through postures.

        Args:
            values: The numbers, increasing.  # (m,)
            postures: The joints' positions at each of them.  # (m, k)

        Raises:
            ModelError: There is but one.
        """
        if len(values) < 2:
            raise UserInputError(
                "the robot cannot leave its initial posture with its feet in place"
            )
        self.lower, self.upper = float(values[0]), float(values[-1])
        self._curve = CubicSpline(values, postures)

    def at(self, value: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities while the number changes at a speed.  # (k,) each"""
        return self._curve(value), self._curve(value, 1) * speed
