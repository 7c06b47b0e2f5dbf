"""How fast a chain may go."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    """What the hand carries, as a point of mass.

    Attributes:
        mass: [kg]
        com: Its centre in the tool's frame [m].  # (3,)
    """

    mass: float
    com: np.ndarray

    def __post_init__(self) -> None:
        """Refuse what is no mass."""
        if not 0.0 <= self.mass < np.inf or not np.isfinite(self.com).all():
            raise UserInputError(
                f"a payload is 0 kg or more somewhere, got {self.mass} at {self.com}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class MotionLimits:
    """Of the joints, the same in both directions.

    Attributes:
        velocity: [rad/s or m/s]  # (k,)
        acceleration: [rad/s² or m/s²]  # (k,)
        torque: Of the actuators [Nm or N]; None where they are strong enough for anything.  # (k,)
        payload: What is carried, which counts for the torques alone.
    """

    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray | None = None
    payload: Payload | None = None

    def __post_init__(self) -> None:
        """Refuse limits that allow nothing."""
        for name in ("velocity", "acceleration", "torque"):
            limit = getattr(self, name)
            if limit is not None and not (np.asarray(limit) > 0.0).all():
                raise UserInputError(f"limits of {name} must be more than 0, got {limit}")

    def check(self, size: int) -> None:
        """Refuse limits that are not for `size` joints.

        Raises:
            ModelError: They are for another number of joints.
        """
        for name in ("velocity", "acceleration", "torque"):
            limit = getattr(self, name)
            if limit is not None and np.shape(limit) != (size,):
                raise UserInputError(f"limits of {name}: expected {size} numbers, got {limit}")
