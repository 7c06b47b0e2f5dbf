"""Velocity with which a walking robot reaches a pose on the ground."""

from math import atan2, cos, hypot, pi, sin

from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose
from mujoco_ros.controllers.library.walk.footsteps import turned

_FAR = 0.5
"""Distance from which on the robot faces the goal [m]."""
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


def velocity_to(error: PlanarPose, step: float, fastest: BodyVelocity) -> BodyVelocity:
    """Return the velocity of the next step; zero at the goal.

    A far goal is faced and approached forwards, a near one in any direction, turning to its yaw.

    Args:
        error: The goal relative to the robot.
        step: Time of a step [s].
        fastest: Greatest velocities.
    """
    distance = hypot(error.x, error.y)
    if distance > _FAR:
        bearing = atan2(error.y, error.x)
        ahead = min(distance / step, fastest.x) * max(0.0, cos(bearing))
        return BodyVelocity(ahead, 0.0, _clipped(bearing / step, fastest.yaw))
    if distance < _CLOSE and abs(error.yaw) < _ALIGNED:
        return BodyVelocity()
    return BodyVelocity(
        _clipped(error.x / step, fastest.x),
        _clipped(_ASIDE * error.y / step, fastest.y),
        _clipped(error.yaw / step, fastest.yaw),
    )


def _wrapped(angle: float) -> float:
    return angle if abs(angle) <= pi else atan2(sin(angle), cos(angle))


def _clipped(value: float, most: float) -> float:
    return min(max(value, -most), most)
