"""Motion of the swing foot."""

from math import atan2, cos, sin
from typing import NamedTuple

import numpy as np

from mujoco_ros.controllers.library.walk.footsteps import Footstep

_APEX = 0.45
"""Part of the swing at which the foot is highest."""
_APPROACH, TOUCHDOWN = 0.75, 0.88
"""Parts of the swing from which on the foot is lowered with a constant velocity, and at which it is
at its goal; the rest is for contact that comes late."""
APPROACH_VELOCITY = 0.09
"""That velocity [m/s]; a stiff leg bounces off the ground if it is higher."""
_LIFT, _LOWER = 0.06, 0.1
"""Parts of the swing at its start and at its end without horizontal motion."""


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
        height: Greatest height above the higher one of both [m].
        s: Part of the swing that is over, from 0 to 1.
        duration: [s]
    """
    width = 1.0 - _LIFT - _LOWER
    part, rate = _quintic(min(max((s - _LIFT) / width, 0.0), 1.0))
    rate /= width * duration
    step = np.array([goal.x - start.x, goal.y - start.y, 0.0])
    turn = atan2(sin(goal.yaw - start.yaw), cos(goal.yaw - start.yaw))
    position, linear = np.array([start.x, start.y, 0.0]) + part * step, rate * step
    apex = height + max(start.z, goal.z)
    if s < _APEX:
        up, climb = _quintic(s / _APEX)
        position[2] = start.z + (apex - start.z) * up
        linear[2] = (apex - start.z) * climb / (_APEX * duration)
    elif s < _APPROACH:
        time, u = (_APPROACH - _APEX) * duration, (s - _APEX) / (_APPROACH - _APEX)
        low = goal.z + APPROACH_VELOCITY * (TOUCHDOWN - _APPROACH) * duration
        down, fall = _quintic(u)
        end = APPROACH_VELOCITY * time  # for a velocity at the end
        position[2] = apex + (low - apex) * down + end * u**3 * (1.0 - u)
        linear[2] = ((low - apex) * fall + end * u * u * (3.0 - 4.0 * u)) / time
    elif s < TOUCHDOWN:
        position[2] = goal.z + APPROACH_VELOCITY * (TOUCHDOWN - s) * duration
        linear[2] = -APPROACH_VELOCITY
    else:
        position[2] = goal.z
    return SwingState(position, start.yaw + part * turn, linear, rate * turn)


def _quintic(s: float) -> tuple[float, float]:
    """Return a rise from 0 to 1 at rest at both ends, and its derivative."""
    return s * s * s * (10.0 + s * (6.0 * s - 15.0)), 30.0 * s * s * (1.0 - s) ** 2
