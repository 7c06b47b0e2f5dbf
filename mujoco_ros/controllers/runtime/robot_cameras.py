"""Cameras of a controller's robot, and their poses."""

from concurrent.futures import Future

import mujoco
import numpy as np

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.naming import OPTICAL_WXYZ
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.cameras import Camera

DELAY_S = 0.1
"""Simulated time from a request to its image [s], for exposure, transfer and decoding."""
_ROUNDING_S = 1e-9


def robot_cameras(layout: ModelLayout, index: int) -> dict[str, Camera]:
    """Return cameras by name; those of the robot with an index precede others of the same name."""
    cameras = {camera.name: camera for camera in layout.every_camera}
    return cameras | {camera.name: camera for camera in layout.robots[index].cameras}


def unknown_camera(camera: str, cameras: dict[str, Camera]) -> "Future[Image]":
    """Return a future that fails with LookupError for an unknown camera."""
    future: Future[Image] = Future()
    future.set_exception(LookupError(str(unknown("camera", camera, cameras))))
    return future


def optical_pose(data: mujoco.MjData, camera: int) -> Pose:
    """Return the pose of a camera's optical frame (z ahead, x right) in the world."""
    quat, optical = np.zeros(4), np.zeros(4)
    mujoco.mju_mat2Quat(quat, data.cam_xmat[camera])
    mujoco.mju_mulQuat(optical, quat, np.array(OPTICAL_WXYZ))
    return Pose(position=data.cam_xpos[camera].copy(), quat_wxyz=optical)


def is_image_due(requested: float, time: float) -> bool:
    """Return whether an image is delivered at a tick, by the times of its request and it [s]."""
    return requested + DELAY_S <= time + _ROUNDING_S
