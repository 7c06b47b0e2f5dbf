"""Footsteps that are moved when a push is more than the support foot can balance."""

from math import cos, exp, sin

import numpy as np

from mujoco_ros.controllers.library.walk.footsteps import LEFT, Footstep, turned

_IGNORED = 0.02
"""Part of a displacement that is not made [m]: uneven ground is no push."""
_FARTHEST = (0.12, 0.1)
"""Largest displacement of a footstep ahead and aside [m]."""
_FASTEST = 0.5
"""Velocity at which the goal of a swing moves at most [m/s]."""


class StepAdjustment:
    """Moves the next footstep so that the DCM at its landing fits.

    Of all zero-moment points (ZMP) in the sole, the one is taken that brings the DCM nearest to its
    planned place at the end of the single support. What remains moves the footstep, as the DCM of
    the steps after it moves with them.

    Source: J. Englsberger, C. Ott, A. Albu-Schäffer, Three-Dimensional Bipedal Walking Control
    Based on Divergent Component of Motion, IEEE Transactions on Robotics 31(2), 2015, section V.

    Attributes:
        offset: Displacement of the footstep along the axes of ``world`` [m].  # (2,)
    """

    def __init__(self, omega: float, half_size: np.ndarray, least: float) -> None:
        """Set the robot.

        Args:
            omega: Natural frequency of the pendulum [1/s].
            half_size: Half length and width of the permitted rectangle in a sole [m].  # (2,)
            least: Least distance between the feet [m].
        """
        self._omega, self._reach, self._least = omega, half_size.tolist(), least
        self._inwards = 0.0
        self.offset = np.zeros(2)

    def begin(self, support: Footstep, planned: Footstep) -> None:
        """Begin a swing to the planned footstep."""
        across = np.array([-sin(support.yaw), cos(support.yaw)])
        width = abs(float(across @ (planned.point - support.point)))
        self._inwards = min(max(0.0, width - self._least), _FARTHEST[1])
        self.offset[:] = 0.0

    def step(
        self,
        dcm: np.ndarray,
        planned: np.ndarray,
        zmp: np.ndarray,
        support: Footstep,
        transfer: float,
        remaining: float,
        period: float,
    ) -> None:
        """Continue by a tick.

        Args:
            dcm: Measured [m].  # (2,)
            planned: DCM at the end of the single support with the planned footstep [m].  # (2,)
            zmp: Planned ZMP [m].  # (2,)
            support: The foot on the ground.
            transfer: Time of the double support that follows [s].
            remaining: Time until the foot lands [s].
            period: [s]
        """
        growth = exp(self._omega * remaining)
        # The DCM at landing moves by this part of a displacement of all later footsteps.
        phase = self._omega * transfer
        part = (1.0 - exp(-phase)) / phase
        # From here on along the axes of the support foot.
        begin, end, middle = (
            turned(float(it[0]), float(it[1]), -support.yaw) for it in (dcm, planned, zmp)
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
