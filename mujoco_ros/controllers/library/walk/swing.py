"""Motion of the swing foot."""

from math import atan2, cos, sin
from typing import NamedTuple

import numpy as np

from mujoco_ros.controllers.library.walk.footsteps import Footstep

_APEX = 0.5
"""Part of the swing at which the foot is highest."""
_LIFT = 0.12
"""Part of the swing at its start and at its end without horizontal motion."""


class SwingState(NamedTuple):
    """Pose and velocity of a sole.

    Attributes:
        position: [m]  # (3,)
        yaw: [rad]
        linear: [m/s]  # (3,)
        turning: [rad/s]
    """

    position: np.ndarray
    yaw: float
    linear: np.ndarray
    turning: float


def swing(start: Footstep, goal: Footstep, height: float, s: float, duration: float) -> SwingState:
    """Return the sole in a swing with quintic polynomials.

    Args:
        start: Where it lifts off.
        goal: Where it lands.
        height: Greatest height [m].
        s: Part of the swing that is over, from 0 to 1.
        duration: [s]
    """
    width = 1.0 - 2.0 * _LIFT
    part, rate = _quintic(min(max((s - _LIFT) / width, 0.0), 1.0))
    rate /= width * duration
    step = np.array([goal.x - start.x, goal.y - start.y, 0.0])
    turn = atan2(sin(goal.yaw - start.yaw), cos(goal.yaw - start.yaw))
    position, linear = np.array([start.x, start.y, 0.0]) + part * step, rate * step
    if s < _APEX:
        up, climb = _quintic(s / _APEX)
        climb /= _APEX * duration
    else:
        up, climb = _quintic((1.0 - s) / (1.0 - _APEX))
        climb /= -(1.0 - _APEX) * duration
    position[2], linear[2] = height * up, height * climb
    return SwingState(position, start.yaw + part * turn, linear, rate * turn)


def _quintic(s: float) -> tuple[float, float]:
    """Return a rise from 0 to 1 at rest at both ends, and its derivative."""
    return s * s * s * (10.0 + s * (6.0 * s - 15.0)), 30.0 * s * s * (1.0 - s) ** 2
