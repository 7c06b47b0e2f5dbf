"""The messages of a camera before they are filled."""

import sys
from array import array
from typing import Any

import numpy as np
from sensor_msgs.msg import CameraInfo, Image, PointCloud2, PointField

from mujoco_ros.model.sensors.cameras import Camera

_POINT_TYPES = {
    np.dtype(np.float32): PointField.FLOAT32,
    np.dtype(np.uint16): PointField.UINT16,
}
_BYTES_PER_PIXEL = {"rgb8": 3, "16UC1": 2, "32FC1": 4}
BIG_ENDIAN = sys.byteorder == "big"


def camera_info(camera: Camera) -> CameraInfo:
    """Return the calibration: a pinhole camera without distortion, whose images are rectified."""
    optics = camera.intrinsics
    message = CameraInfo(width=camera.width, height=camera.height, distortion_model="plumb_bob")
    message.header.frame_id = camera.frame
    fx, fy, cx, cy = optics.fx, optics.fy, optics.cx, optics.cy
    message.d = [0.0] * 5
    message.k = [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0]
    message.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    message.p = [fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return message


def image(camera: Camera, encoding: str) -> Image:
    """Return a black image."""
    row = camera.width * _BYTES_PER_PIXEL[encoding]
    message = Image(
        width=camera.width,
        height=camera.height,
        encoding=encoding,
        is_bigendian=BIG_ENDIAN,
        step=row,
        data=array("B", bytes(row * camera.height)),
    )
    message.header.frame_id = camera.frame
    return message


def cloud(frame: str, rows: int, columns: int, point: np.dtype[Any]) -> PointCloud2:
    """Return an organised point cloud whose points are all zero.

    Args:
        frame: TF frame.
        rows: Number of rows.
        columns: Number of points per row.
        point: Fields of a point.
    """
    step = point.itemsize
    message = PointCloud2(
        width=columns,
        height=rows,
        fields=[
            PointField(name=name, offset=offset, datatype=_POINT_TYPES[kind], count=1)
            for name, (kind, offset, *_) in (point.fields or {}).items()
        ],
        is_bigendian=BIG_ENDIAN,
        point_step=step,
        row_step=step * columns,
        data=array("B", bytes(step * columns * rows)),
        is_dense=False,
    )
    message.header.frame_id = frame
    return message
