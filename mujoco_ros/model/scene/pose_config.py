"""Poses in configuration files."""

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class PoseConfig:
    """Pose: position [m], and roll-pitch-yaw [rad] (REP-103) or a quaternion xyzw."""

    xyz: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] | None = None
    quaternion_xyzw: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        if self.rpy is not None and self.quaternion_xyzw is not None:
            raise UserInputError("give either 'rpy' or 'quaternion_xyzw', not both")
        if self.quaternion_xyzw is not None:
            length = math.hypot(*self.quaternion_xyzw)
            if not 0.5 < length < 2.0:
                raise UserInputError(f"'quaternion_xyzw' must have length 1, got {length:g}")


ORIGIN = PoseConfig()


def quaternion_wxyz(pose: PoseConfig) -> np.ndarray:
    """Return the rotation as a unit quaternion wxyz.  # (4,)."""
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    if pose.quaternion_xyzw is not None:
        quat[:] = np.roll(pose.quaternion_xyzw, 1)
        mujoco.mju_normalize4(quat)
    elif pose.rpy is not None:
        mujoco.mju_euler2Quat(quat, np.array(pose.rpy), "XYZ")
    return quat
