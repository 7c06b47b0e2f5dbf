"""The messages of a camera."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from sensor_msgs.msg import PointField

from mujoco_ros.cameras.ros.camera import camera_info, cloud, image
from mujoco_ros.model.sensors.cameras import Camera, Intrinsics

CAMERA = Camera(
    name="wrist",
    namespace="arm",
    frame="arm/wrist_optical_frame",
    camera=0,
    body=1,
    width=64,
    height=48,
    intrinsics=Intrinsics(fx=50.0, fy=51.0, cx=30.5, cy=24.5),
)


def test_the_calibration_is_that_of_a_rectified_pinhole_camera():
    info = camera_info(CAMERA)
    assert (info.width, info.height, info.header.frame_id) == (64, 48, CAMERA.frame)
    assert (info.distortion_model, list(info.d)) == ("plumb_bob", [0.0] * 5)
    k = np.array(info.k).reshape(3, 3)
    assert k.tolist() == [[50.0, 0.0, 30.5], [0.0, 51.0, 24.5], [0.0, 0.0, 1.0]]
    assert np.array(info.r).reshape(3, 3).tolist() == np.eye(3).tolist()
    assert np.array(info.p).reshape(3, 4).tolist() == np.c_[k, np.zeros(3)].tolist()


@pytest.mark.parametrize(("encoding", "size"), [("rgb8", 3), ("16UC1", 2), ("32FC1", 4)])
def test_an_image_has_rows_of_whole_pixels(encoding: str, size: int) -> None:
    message = image(CAMERA, encoding)
    assert (message.width, message.height, message.encoding) == (64, 48, encoding)
    assert (message.step, len(message.data)) == (64 * size, 64 * 48 * size)
    assert message.header.frame_id == CAMERA.frame


def test_a_cloud_describes_the_fields_of_its_points():
    point = np.dtype(
        {"names": ["x", "ring"], "formats": ["<f4", "<u2"], "offsets": [0, 4], "itemsize": 8}
    )
    message = cloud("lidar", 16, 90, point)
    assert (message.height, message.width, message.row_step) == (16, 90, 720)
    assert len(message.data) == 16 * 720
    assert [(f.name, f.offset, f.datatype, f.count) for f in message.fields] == [
        ("x", 0, PointField.FLOAT32, 1),
        ("ring", 4, PointField.UINT16, 1),
    ]
