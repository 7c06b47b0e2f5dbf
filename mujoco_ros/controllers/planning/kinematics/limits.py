"""Limits of a motion, its payload, and the errors of planning."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class Payload:
    """The payload of the hand: a point mass [kg] at `com` in the tool's frame [m].  # (3,)"""

    mass: float
    com: np.ndarray

    def __post_init__(self) -> None:
        if not 0.0 <= self.mass < np.inf or not np.isfinite(self.com).all():
            raise UserInputError(
                f"a payload is 0 kg or more at a finite position, got {self.mass} at {self.com}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class MotionLimits:
    """Limits of the joints, equal in both directions."""

    velocity: np.ndarray  # velocities [rad/s or m/s] (k,)
    acceleration: np.ndarray  # accelerations [rad/s² or m/s²] (k,)
    torque: np.ndarray | None = None  # torques of the actuators [Nm or N]; None is unlimited (k,)
    payload: Payload | None = None  # the payload, for the torques

    def __post_init__(self) -> None:
        for name in ("velocity", "acceleration", "torque"):
            limit = getattr(self, name)
            if limit is not None and not (np.asarray(limit) > 0.0).all():
                raise UserInputError(f"limits of {name} must be more than 0, got {limit}")

    def check(self, size: int) -> None:
        """Raise UserInputError unless the limits are of `size` joints."""
        for name in ("velocity", "acceleration", "torque"):
            limit = getattr(self, name)
            if limit is not None and np.shape(limit) != (size,):
                raise UserInputError(f"limits of {name}: expected {size} numbers, got {limit}")


class MotionError(Exception):
    """No motion satisfies a request; the message gives the reason with numbers."""


class IkError(MotionError):
    """No configuration brings the tool to the pose."""


class BlockedError(IkError):
    """All configurations that bring the tool to the pose are in collision."""


class CollisionError(MotionError):
    """There is a collision at the start, at the goal, or on a straight line."""


class NoPathError(MotionError):
    """The planner found no path within its iterations."""


class LineError(MotionError):
    """The joints cannot move the tool along the straight line."""


class TimingError(MotionError):
    """The limits allow no motion along the path."""


class PlannerDiedError(MotionError):
    """The planning process ended before it returned a plan."""
