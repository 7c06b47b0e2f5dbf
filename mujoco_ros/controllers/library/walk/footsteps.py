"""Footsteps from a velocity of the body."""

from math import atan2, cos, sin
from typing import NamedTuple

import numpy as np

LEFT, RIGHT = 0, 1


class Velocity(NamedTuple):
    """Velocity of the body along its own axes.

    Attributes:
        x: Forwards [m/s].
        y: To the left [m/s].
        yaw: Turning to the left [rad/s].
    """

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether the body shall stand."""
        return not any(self)


class Footstep(NamedTuple):
    """Pose of a sole on level ground.

    Attributes:
        side: `LEFT` or `RIGHT`.
        x: [m]
        y: [m]
        yaw: [rad]
    """

    side: int
    x: float
    y: float
    yaw: float

    @property
    def point(self) -> np.ndarray:
        """Centre of the sole [m].  # (2,)"""
        return np.array([self.x, self.y])


def turned(x: float, y: float, yaw: float) -> tuple[float, float]:
    """Return a vector (x, y) after a rotation."""
    return cos(yaw) * x - sin(yaw) * y, sin(yaw) * x + cos(yaw) * y


def next_footstep(
    support: Footstep, velocity: Velocity, duration: float, width: float, least_width: float
) -> Footstep:
    """Return where the other foot lands.

    The middle between the feet moves with the velocity. A foot that would come nearer to the
    support foot than `least_width` stays there, so sideways walking opens with one foot and closes
    with the other.

    Args:
        support: The foot on the ground.
        velocity: Velocity of the body.
        duration: Time of a step [s].
        width: Distance between the feet [m].
        least_width: Least distance between the feet [m].
    """
    side = 1 - support.side
    sign = 1.0 if side == LEFT else -1.0
    turn = velocity.yaw * duration
    across = sign * max(least_width, width + sign * velocity.y * duration)
    middle = turned(velocity.x * duration, across - 0.5 * sign * width, 0.5 * turn)
    foot = turned(0.0, 0.5 * sign * width, turn)
    x, y = turned(middle[0] + foot[0], middle[1] + foot[1], support.yaw)
    return Footstep(side, support.x + x, support.y + y, support.yaw + turn)


def beside(support: Footstep, width: float) -> Footstep:
    """Return where the other foot stands beside the support foot."""
    return next_footstep(support, Velocity(), 0.0, width, width)


def mean_yaw(first: float, second: float, share: float) -> float:
    """Return a yaw between two, `share` of the way to the second [rad]."""
    difference = second - first
    return first + share * atan2(sin(difference), cos(difference))
