"""Motion of a swing foot, with the accelerations that inverse dynamics need."""

from typing import NamedTuple

import numpy as np

_APEX = 0.45
"""Part of the swing at which the foot is highest."""
TOUCHDOWN_VELOCITY = 0.15
"""Velocity downwards at the end of a swing, and until the foot touches the ground [m/s]."""


class SwingPoint(NamedTuple):
    """A point of a motion.

    Attributes:
        position: [m]  # (3,)
        velocity: [m/s]  # (3,)
        acceleration: [m/s²]  # (3,)
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def swing_point(
    start: np.ndarray, goal: np.ndarray, height: float, s: float, duration: float
) -> SwingPoint:
    """Return a point of a swing with quintic polynomials.

    Args:
        start: Where the foot lifts off [m].  # (3,)
        goal: Where it lands, with `TOUCHDOWN_VELOCITY` [m].  # (3,)
        height: Greatest height above the higher one of both [m].
        s: Part of the swing that is over, from 0 to 1.
        duration: [s]
    """
    part, rate, change = _quintic(s)
    position = start + part * (goal - start)
    velocity = (rate / duration) * (goal - start)
    acceleration = (change / duration**2) * (goal - start)
    apex = height + max(float(start[2]), float(goal[2]))
    if s < _APEX:
        time, rise = _APEX * duration, apex - float(start[2])
        part, rate, change = _quintic(s / _APEX)
        position[2] = start[2] + rise * part
        velocity[2], acceleration[2] = rise * rate / time, rise * change / time**2
    else:
        time, fall = (1.0 - _APEX) * duration, float(goal[2]) - apex
        u = (s - _APEX) / (1.0 - _APEX)
        part, rate, change = _quintic(u)
        end = TOUCHDOWN_VELOCITY * time  # u³ (1 - u) has the slope -1 at the end
        position[2] = apex + fall * part + end * u**3 * (1.0 - u)
        velocity[2] = (fall * rate + end * u * u * (3.0 - 4.0 * u)) / time
        acceleration[2] = (fall * change + end * u * (6.0 - 12.0 * u)) / time**2
    return SwingPoint(position, velocity, acceleration)


def _quintic(s: float) -> tuple[float, float, float]:
    """Return a rise from 0 to 1 at rest at both ends, and its two derivatives."""
    return (
        s * s * s * (10.0 + s * (6.0 * s - 15.0)),
        30.0 * s * s * (1.0 - s) ** 2,
        60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    )
