"""The swing foot: its motion, its contact, and the slope of the ground under it."""

from math import atan2, cos, sin
from typing import NamedTuple

import numpy as np

from mujoco_ros.controllers.library.walk.footsteps import Footstep, turned

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


_EARLIEST = 0.5
"""Part of the swing before which the foot is still rising, so that a load is not the ground."""
_TOUCH, _REST, _LOST = 0.1, 0.08, 0.02
"""Load at which the foot has landed, load while it waits for the end of the swing, and load below
which it has lost the ground again, as parts of the weight."""
_DEEPEST = 0.04
"""Largest depth of this search [m]."""
_COMPLIANCE = 1e-4
"""Vertical velocity of a landed foot per error of its load [m/(s N)]."""
_FASTEST = 0.1
"""Largest such velocity [m/s]."""
_SMOOTH = 2.0
"""Largest change of the vertical velocity [m/s²]: a stiff leg that follows a jump bounces."""


class Landing:
    """Stops the swing foot where it touches the ground, and lowers it until it does.

    Attributes:
        has_landed: Whether the foot is on the ground.
        position: Position of the sole at the last step [m].  # (3,)
    """

    def __init__(self, weight: float) -> None:
        """Use the weight of the robot [N]."""
        self._weight = weight
        self.position = np.zeros(3)
        self.begin()
        self.has_landed = True

    def begin(self) -> None:
        """Begin a swing."""
        self.has_landed = False
        self._depth = self._velocity = 0.0

    def step(self, planned: np.ndarray, progress: float, load: float, period: float) -> None:
        """Continue by a tick.

        Args:
            planned: Position of the sole in the swing [m].  # (3,)
            progress: Part of the swing that is over.
            load: Measured vertical force on the foot [N].
            period: [s]
        """
        if not self.has_landed and progress > _EARLIEST and load > _TOUCH * self._weight:
            self.has_landed = True
        if self.has_landed:
            self.position[2] += self._comply(load, period)
            return
        if progress > TOUCHDOWN:
            self._lower(period)
        self.position[:] = planned
        self.position[2] -= self._depth

    def search(self, load: float, period: float) -> float:
        """Return by how much the foot moves down in double support, if it has not landed [m].

        Args:
            load: Measured vertical force on the foot [N].
            period: [s]
        """
        if not self.has_landed and load > _TOUCH * self._weight:
            self.has_landed = True
        if self.has_landed:
            return -min(0.0, self._comply(load, period))
        return self._lower(period)

    def _lower(self, period: float) -> float:
        """Return by how much the foot is lowered in a tick, at most to the largest depth [m]."""
        down = max(0.0, min(APPROACH_VELOCITY * period, _DEEPEST - self._depth))
        self._depth += down
        return down

    def _comply(self, load: float, period: float) -> float:
        """Return by how much a foot that has landed moves up in a tick [m].

        If only a corner has touched, and has slipped, it continues down.
        """
        velocity = min(_COMPLIANCE * (load - _REST * self._weight), _FASTEST)
        missing = 1.0 - load / (_LOST * self._weight)
        if missing > 0.0:
            velocity = -APPROACH_VELOCITY * min(missing, 1.0) if self._depth < _DEEPEST else 0.0
        step = _SMOOTH * period
        self._velocity += min(max(velocity - self._velocity, -step), step)
        up = self._velocity * period
        self._depth += max(0.0, -up)
        return up


_STEEPEST = 0.15
"""Largest expected rise of the ground."""
_SHARE, _EDGE = 0.15, 0.05
"""Part of the difference of measured and expected slope by which a step changes the latter, and the
largest difference that counts: that of a foot on an edge is larger."""


def slope_under(tilt: np.ndarray, yaw: float) -> np.ndarray:
    """Return the rise of the ground along x and y of ``world`` under a sole, limited.  # (2,)

    Args:
        tilt: Roll and pitch of the sole [rad].  # (2,)
        yaw: Yaw of the sole [rad].
    """
    roll, pitch = tilt.tolist()
    slope = np.array(turned(-pitch, roll, yaw))
    return np.clip(slope, -_STEEPEST, _STEEPEST, out=slope)


def tilt_on(slope: np.ndarray, yaw: float) -> np.ndarray:
    """Return roll and pitch of a sole on the ground [rad].  # (2,)

    Args:
        slope: Rise of the ground along x and y of ``world``.  # (2,)
        yaw: Yaw of the sole [rad].
    """
    ahead, left = turned(float(slope[0]), float(slope[1]), -yaw)
    return np.array([left, -ahead])


def approach(expected: np.ndarray, measured: np.ndarray) -> None:
    """Change the expected slope by a part of its difference to a measured one.  # (2,), (2,)"""
    expected += _SHARE * np.clip(measured - expected, -_EDGE, _EDGE)
