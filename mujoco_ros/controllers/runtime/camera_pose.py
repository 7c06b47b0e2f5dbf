"""Where a camera looks from, as its images are said to be seen."""

import mujoco
import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.model.robot.frame_names import OPTICAL_WXYZ


def optical_pose(data: mujoco.MjData, camera: int) -> Pose:
    """Return the optical frame (z ahead, x right) of a camera in the world."""
    quat, optical = np.zeros(4), np.zeros(4)
    mujoco.mju_mat2Quat(quat, data.cam_xmat[camera])
    mujoco.mju_mulQuat(optical, quat, np.array(OPTICAL_WXYZ))
    return Pose(position=data.cam_xpos[camera].copy(), quat_wxyz=optical)
