"""Error of the base that a controller estimates."""

from collections.abc import Mapping

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.observation import BaseReading

_LEAST_PATH = 1.0
"""Path to which the drift of a shorter one is relative [m]."""


class EstimateError:
    """Compares estimates of a floating base with the truth.

    The horizontal position, which drifts, is compared relative to its first error. Yaw, which
    drifts too, is not compared; velocities are compared in the axes of the base, so that an error
    of yaw does not count.
    """

    def __init__(self) -> None:
        self._count, self._squares, self._tilt, self._distance = 0, 0.0, 0.0, 0.0
        self._offset, self._last, self._drift = np.zeros(3), np.zeros(3), 0.0

    def add(self, estimate: BaseReading, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Add the errors of a tick; qpos (7,) and qvel (6,) are those of the free joint."""
        inverse, linear, up = np.zeros(4), np.zeros(3), np.zeros(3)
        mujoco.mju_negQuat(inverse, qpos[3:])
        mujoco.mju_rotVecQuat(linear, qvel[:3], inverse)
        self._squares += float(((estimate.linear - linear) ** 2).sum())
        mujoco.mju_rotVecQuat(up, np.array([0.0, 0.0, 1.0]), inverse)
        measured = estimate.pose.matrix[2, :3]  # the vertical in the frame of the base
        tilt = float(np.linalg.norm(np.cross(up, measured)))
        self._tilt = max(self._tilt, float(np.arcsin(min(tilt, 1.0))))
        offset = estimate.pose.position - qpos[:3]
        if not self._count:
            self._offset, self._last = offset.copy(), qpos[:3].copy()
        self._drift = float(np.linalg.norm((offset - self._offset)[:2]))
        self._distance += float(np.linalg.norm((qpos[:3] - self._last)[:2]))
        self._last = qpos[:3].copy()
        self._count += 1

    def metrics(self) -> Mapping[str, float]:
        """Return the errors by name; none without estimates.

        The drift is that at the end [m], with the length of the path [m] and as part of it (of at
        least a metre), the tilt the largest
        error of roll and pitch [rad], the velocity the root mean square [m/s].
        """
        if not self._count:
            return {}
        return {
            "estimate_drift": self._drift,
            "estimate_path": self._distance,
            "estimate_relative_drift": self._drift / max(self._distance, _LEAST_PATH),
            "estimate_tilt": self._tilt,
            "estimate_velocity": float(np.sqrt(self._squares / self._count)),
        }
