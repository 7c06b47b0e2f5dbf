"""Footsteps from a velocity of the body."""

from math import atan2, cos, sin
from typing import NamedTuple

import numpy as np

from mujoco_ros.controllers.interface.inputs import BodyVelocity

LEFT, RIGHT = 0, 1


class Footstep(NamedTuple):
    """Pose of a sole on the ground.

    Attributes:
        side: `LEFT` or `RIGHT`.
        x: [m]
        y: [m]
        yaw: [rad]
        z: Height [m].
    """

    side: int
    x: float
    y: float
    yaw: float
    z: float = 0.0

    @property
    def point(self) -> np.ndarray:
        """Centre of the sole [m].  # (2,)"""
        return np.array([self.x, self.y])


def turned(x: float, y: float, yaw: float) -> tuple[float, float]:
    """Return a vector (x, y) after a rotation."""
    return cos(yaw) * x - sin(yaw) * y, sin(yaw) * x + cos(yaw) * y


def next_footstep(
    support: Footstep,
    velocity: BodyVelocity,
    duration: float,
    width: float,
    least_width: float,
    turn_width: float = 0.0,
) -> Footstep:
    """Return where the other foot lands.

    The middle between the feet moves with the velocity. A foot that would come nearer to the
    support foot than `least_width` stays there, so sideways walking opens with one foot, by twice
    as much, and closes with the other.

    Args:
        support: The foot on the ground.
        velocity: Velocity of the body.
        duration: Time of a step [s].
        width: Distance between the feet [m].
        least_width: Least distance between the feet [m].
        turn_width: Additional distance per sine of the turn [m], since toes and heels come nearer.
    """
    side = 1 - support.side
    sign = 1.0 if side == LEFT else -1.0
    turn = velocity.yaw * duration
    aside = sign * velocity.y * duration
    missed = max(0.0, least_width - (width - abs(aside)))  # by the foot that closes
    across = max(least_width, width + aside + (missed if aside > 0.0 else 0.0))
    across = sign * (across + turn_width * abs(sin(turn)))
    middle = turned(velocity.x * duration, across - 0.5 * sign * width, 0.5 * turn)
    foot = turned(0.0, 0.5 * sign * width, turn)
    x, y = turned(middle[0] + foot[0], middle[1] + foot[1], support.yaw)
    return Footstep(side, support.x + x, support.y + y, support.yaw + turn, support.z)


def beside(support: Footstep, width: float) -> Footstep:
    """Return where the other foot stands beside the support foot."""
    return next_footstep(support, BodyVelocity(), 0.0, width, width)


def on_slope(foot: Footstep, support: Footstep, slope: np.ndarray) -> Footstep:
    """Return a footstep on the plane through the support foot.

    Args:
        foot: The footstep; its height is ignored.
        support: The foot on the ground.
        slope: Rise of the ground along x and y of ``world``.  # (2,)
    """
    rise = float(slope[0] * (foot.x - support.x) + slope[1] * (foot.y - support.y))
    return foot._replace(z=support.z + rise)


def mean_yaw(first: float, second: float, share: float) -> float:
    """Return a yaw between two, `share` of the way to the second [rad]."""
    difference = second - first
    return first + share * atan2(sin(difference), cos(difference))
