"""Base class of the tasks of whole-body control."""

from abc import ABC, abstractmethod

import numpy as np

from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.model.errors import UserInputError


class WholeBodyTask(ABC):
    """A velocity that depends linearly on those of the joints, and what it shall be.

    Attributes:
        rows: Number of components.
        weight: Weight of each component; 0 is off.  # (rows,)
        gain: Part of the error that is corrected in a tick, from 0 to 1.
        rate: Decay of the error of the velocity, of inverse dynamics [1/s].  # () or (rows,)
        acceleration: Of the target, for inverse dynamics.  # (rows,)
        jacobian: Set by `compute`.  # (rows, nv)
        velocity: Set by `compute`.  # (rows,)
    """

    def __init__(self, rows: int, weight: float | np.ndarray, gain: float) -> None:
        """Set weights.

        Raises:
            UserInputError: A weight is negative, or the gain is not from 0 to 1.
        """
        self.rows = rows
        self.weight = np.broadcast_to(np.asarray(weight, dtype=float), rows).copy()
        self.gain = gain
        self.rate: float | np.ndarray = 20.0
        self.acceleration = np.zeros(rows)
        if not (self.weight >= 0.0).all():
            raise UserInputError(f"weights of a task must not be negative, got {weight}")
        if not 0.0 <= gain <= 1.0:
            raise UserInputError(f"the gain of a task must be from 0 to 1, got {gain:g}")
        self.jacobian, self.velocity = np.zeros((rows, 0)), np.zeros(rows)

    def bind(self, jacobian: np.ndarray, velocity: np.ndarray) -> None:
        """Write results into these arrays from now on."""
        self.jacobian, self.velocity = jacobian, velocity

    @abstractmethod
    def compute(self, body: FloatingBaseKinematics, period: float) -> None:
        """Compute Jacobian and velocity of the next `period` [s]."""

    def drift(self, body: FloatingBaseKinematics, out: np.ndarray) -> None:
        """Compute J' v, the acceleration while those of all degrees of freedom are zero.

        It is neglected unless a task computes it. Only inverse dynamics need it, after `compute`.

        Args:
            body: With its velocity.
            out: The result.  # (rows,)
        """
        out[:] = 0.0
