"""Footsteps that are moved when a push is more than the support foot can balance."""

from math import cos, exp, sin

import numpy as np

from mujoco_ros.controllers.library.walk.footsteps import LEFT, Footstep

_IGNORED = 0.02
"""Part of a displacement that is not made [m]: uneven ground is no push."""
_FARTHEST = np.array([0.12, 0.1])
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
        self._omega, self._reach, self._least = omega, half_size, least
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
        ahead = np.array([cos(support.yaw), sin(support.yaw)])
        axes = np.stack((ahead, (-ahead[1], ahead[0])))  # rows: ahead and left
        growth = exp(self._omega * remaining)
        best = (planned - dcm * growth) / (1.0 - growth)
        shift = np.clip(axes @ (best - zmp), -self._reach, self._reach)
        pressure = zmp + shift @ axes
        error = axes @ (pressure + (dcm - pressure) * growth - planned)
        # The DCM at landing moves by this part of a displacement of all later footsteps.
        phase = self._omega * transfer
        error /= (1.0 - exp(-phase)) / phase
        error = np.sign(error) * np.maximum(np.abs(error) - _IGNORED, 0.0)
        outwards = 1.0 if support.side != LEFT else -1.0
        low, high = -_FARTHEST, _FARTHEST.copy()
        if outwards > 0.0:
            low[1] = -self._inwards
        else:
            high[1] = self._inwards
        wanted = np.clip(error, low, high) @ axes
        step = _FASTEST * period
        self.offset += np.clip(wanted - self.offset, -step, step)
