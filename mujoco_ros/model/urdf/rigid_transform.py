"""Rigid transforms."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, slots=True)
class RigidTransform:
    """A rigid transform: `pos` [m] and the rotation matrix `mat`."""

    pos: Array  # (3,)
    mat: Array  # (3, 3)

    @staticmethod
    def of(
        pos: ArrayLike = (0.0, 0.0, 0.0), quat_wxyz: ArrayLike = (1.0, 0.0, 0.0, 0.0)
    ) -> "RigidTransform":
        """Build a pose from a position and a unit quaternion."""
        mat = np.zeros(9)
        mujoco.mju_quat2Mat(mat, np.asarray(quat_wxyz, dtype=float))
        return RigidTransform(pos=np.array(pos, dtype=float), mat=mat.reshape(3, 3))

    @staticmethod
    def of_rpy(xyz: ArrayLike, rpy: ArrayLike) -> "RigidTransform":
        """Build a pose from URDF's position and angles about the fixed axes x, y, z [rad]."""
        quat = np.zeros(4)
        # MuJoCo's capitals mean fixed axes.
        mujoco.mju_euler2Quat(quat, np.asarray(rpy, dtype=float), "XYZ")
        return RigidTransform.of(xyz, quat)

    @property
    def quat_wxyz(self) -> Array:
        """The rotation as a unit quaternion.  # (4,)."""
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(self.mat).ravel())
        return quat

    def __matmul__(self, inner: "RigidTransform") -> "RigidTransform":
        """Return the pose in this frame of what is at `inner` in the frame here."""
        return RigidTransform(pos=self.pos + self.mat @ inner.pos, mat=self.mat @ inner.mat)

    def inverse(self) -> "RigidTransform":
        """Return the transform that undoes this one."""
        return RigidTransform(pos=-self.mat.T @ self.pos, mat=self.mat.T)
