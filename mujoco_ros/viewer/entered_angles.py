"""An orientation that is entered as angles."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.model.pose import PoseConfig, quaternion_wxyz, rpy_of

Angles = tuple[float, float, float]
Quaternion = tuple[float, ...]
_SMALLEST_NORM = 1e-6


class EnteredAngles:
    """Roll, pitch and yaw [deg] of a quaternion (xyzw).

    They stay as entered, because several angles are the same orientation.
    """

    def __init__(self) -> None:
        self._entered: tuple[Quaternion, Angles] = ((), (0.0, 0.0, 0.0))

    def angles(self, quat_xyzw: Sequence[float]) -> Angles:
        """Return the angles of a quaternion; zeros if it is none."""
        entered, angles = self._entered
        if entered == tuple(quat_xyzw):
            return angles
        x, y, z, w = quat_xyzw
        if not _SMALLEST_NORM < float(np.linalg.norm(quat_xyzw)) < np.inf:
            return (0.0, 0.0, 0.0)
        roll, pitch, yaw = map(float, np.degrees(rpy_of(np.array([w, x, y, z]))))
        return roll, pitch, yaw

    def enter(self, angles: Angles) -> Quaternion:
        """Return the quaternion of angles, and remember them."""
        roll, pitch, yaw = map(float, np.radians(angles))
        w, x, y, z = map(float, quaternion_wxyz(PoseConfig(rpy=(roll, pitch, yaw))))
        self._entered = (x, y, z, w), angles
        return x, y, z, w
