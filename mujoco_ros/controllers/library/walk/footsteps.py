"""Footsteps from a velocity of the body or to a goal, moved after a push."""

from math import atan2, cos, exp, hypot, pi, sin
from typing import Any, NamedTuple

import numpy as np

from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose

LEFT, RIGHT = 0, 1


class Footstep(NamedTuple):
    """Pose of a sole on the ground."""

    side: int  # `LEFT` or `RIGHT`
    x: float  # [m]
    y: float  # [m]
    yaw: float  # [rad]
    z: float = 0.0  # height [m]

    @property
    def point(self) -> np.ndarray:
        return np.array([self.x, self.y])


def turned(x: float, y: float, yaw: float) -> tuple[float, float]:
    """Return a vector (x, y) after a rotation."""
    return cos(yaw) * x - sin(yaw) * y, sin(yaw) * x + cos(yaw) * y


def next_footstep(
    support: Footstep,  # the foot on the ground
    velocity: BodyVelocity,  # velocity of the body
    duration: float,  # time of a step [s]
    width: float,  # distance between the feet [m]
    least_width: float,  # least distance between the feet [m]
    turn_width: float = 0.0,  # more width per sine of the turn, for toes and heels [m]
) -> Footstep:
    """Return where the other foot lands.

    The middle between the feet moves with the velocity. A foot that would come nearer to the
    support foot than `least_width` stays there, so sideways walking opens with one foot, by twice
    as much, and closes with the other.
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
    """Return a footstep on the plane through the support foot, with a slope (2,)."""
    rise = float(slope[0] * (foot.x - support.x) + slope[1] * (foot.y - support.y))
    return foot._replace(z=support.z + rise)


def mean_yaw(first: float, second: float, share: float) -> float:
    """Return a yaw between two, `share` of the way to the second [rad]."""
    difference = second - first
    return first + share * atan2(sin(difference), cos(difference))


_IGNORED = 0.02  # part of a displacement that is not made [m]: uneven ground is no push
_FARTHEST = (0.12, 0.1)  # largest displacement of a footstep ahead and aside [m]
_FASTEST = 0.5  # velocity at which the goal of a swing moves at most [m/s]


class StepAdjustment:
    """Moves the next footstep so that the DCM at its landing fits.

    Of all zero-moment points (ZMP) in the sole, the one is taken that brings the DCM nearest to its
    planned place at the end of the single support. What remains moves the footstep, as the DCM of
    the steps after it moves with them.

    Source: J. Englsberger, C. Ott, A. Albu-Schäffer, Three-Dimensional Bipedal Walking Control
    Based on Divergent Component of Motion, IEEE Transactions on Robotics 31(2), 2015, section V.
    """

    def __init__(self, omega: float, half_size: np.ndarray, least: float) -> None:
        """Use half sizes of the permitted rectangle in a sole, and a least width [m]."""
        self._omega, self._reach, self._least = omega, half_size.tolist(), least
        self._inwards = 0.0
        # Displacement of the footstep along the axes of ``world`` [m] (2,)
        self.offset = np.zeros(2)

    def begin(self, support: Footstep, planned: Footstep) -> None:
        """Begin a swing to the planned footstep."""
        across = np.array([-sin(support.yaw), cos(support.yaw)])
        width = abs(float(across @ (planned.point - support.point)))
        self._inwards = min(max(0.0, width - self._least), _FARTHEST[1])
        self.offset[:] = 0.0

    def step(
        self,
        dcm: np.ndarray,  # measured [m] (2,)
        planned: np.ndarray,  # DCM at the end of the single support as planned [m] (2,)
        zmp: np.ndarray,  # planned ZMP [m] (2,)
        support: Footstep,  # the foot on the ground
        transfer: float,  # time of the double support that follows [s]
        remaining: float,  # time until the foot lands [s]
        period: float,  # [s]
    ) -> None:
        growth = exp(self._omega * remaining)
        # The DCM at landing moves by this part of a displacement of all later footsteps.
        phase = self._omega * transfer
        part = (1.0 - exp(-phase)) / phase
        # From here on along the axes of the support foot.
        begin, end, middle = (
            turned(float(point[0]), float(point[1]), -support.yaw) for point in (dcm, planned, zmp)
        )
        wanted = [0.0, 0.0]
        for axis, reach in enumerate(self._reach):
            best = (end[axis] - begin[axis] * growth) / (1.0 - growth)
            pressure = middle[axis] + _clipped(best - middle[axis], -reach, reach)
            error = (pressure + (begin[axis] - pressure) * growth - end[axis]) / part
            low, high = -_FARTHEST[axis], _FARTHEST[axis]
            if axis == 1 and support.side == LEFT:
                high = self._inwards
            elif axis == 1:
                low = -self._inwards
            wanted[axis] = _clipped(error - _clipped(error, -_IGNORED, _IGNORED), low, high)
        step, offset = _FASTEST * period, self.offset.tolist()
        for axis, goal in enumerate(turned(wanted[0], wanted[1], support.yaw)):
            self.offset[axis] += _clipped(goal - offset[axis], -step, step)


def _clipped(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


_FAR = 0.5  # distance from which on the robot faces the goal [m]
_ASIDE = 0.5
"""Part of a sideways displacement that is made in a step: the foot that opens moves by twice as
much, and the other one follows."""
_CLOSE, _ALIGNED = 0.008, 0.015
"""Distance [m] and angle [rad] with which the goal is reached, as far as footsteps are planned."""


def error_of(goal: PlanarPose, place: PlanarPose) -> PlanarPose:
    """Return a goal relative to the axes of a place."""
    x, y = turned(goal.x - place.x, goal.y - place.y, -place.yaw)
    return PlanarPose(x, y, _wrapped(goal.yaw - place.yaw))


def joined(place: PlanarPose, relative: PlanarPose) -> PlanarPose:
    """Return a pose that is given relative to a place."""
    x, y = turned(relative.x, relative.y, place.yaw)
    return PlanarPose(place.x + x, place.y + y, _wrapped(place.yaw + relative.yaw))


def is_reached(error: PlanarPose, config: Any) -> bool:
    """Return whether an error is within the settings `largest_distance` and `largest_angle`."""
    is_there = hypot(error.x, error.y) <= config.largest_distance
    return bool(is_there and abs(error.yaw) <= config.largest_angle)


def velocity_to(error: PlanarPose, step: float, fastest: BodyVelocity) -> BodyVelocity:
    """Return the velocity of the next step, of a time [s]; zero at the goal.

    A far goal is faced and approached forwards, a near one in any direction, turning to its yaw.
    """
    distance = hypot(error.x, error.y)
    if distance > _FAR:
        bearing = atan2(error.y, error.x)
        ahead = min(distance / step, fastest.x) * max(0.0, cos(bearing))
        return BodyVelocity(ahead, 0.0, _limited(bearing / step, fastest.yaw))
    if distance < _CLOSE and abs(error.yaw) < _ALIGNED:
        return BodyVelocity()
    return BodyVelocity(
        _limited(error.x / step, fastest.x),
        _limited(_ASIDE * error.y / step, fastest.y),
        _limited(error.yaw / step, fastest.yaw),
    )


def _wrapped(angle: float) -> float:
    return angle if abs(angle) <= pi else atan2(sin(angle), cos(angle))


def _limited(value: float, most: float) -> float:
    return min(max(value, -most), most)
