"""Large messages whose bytes are patched are those that rclpy would serialize."""

from array import array
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Image, LaserScan, PointCloud2, PointField

from mujoco_ros.bridge.publishing.message_template import LayoutError
from mujoco_ros.cameras.ros.array_template import ArrayTemplate

IMAGE = Image(height=3, width=5, encoding="rgb8", step=15, data=array("B", bytes(45)))
CLOUD = PointCloud2(
    height=2,
    width=3,
    fields=[PointField(name="x", offset=0, datatype=PointField.FLOAT32, count=1)],
    point_step=4,
    row_step=12,
    data=array("B", bytes(24)),
    is_dense=True,
)
SCAN = LaserScan(
    angle_min=-1.0,
    range_max=7.0,
    ranges=array("f", bytes(4 * 9)),
    intensities=array("f", bytes(4 * 9)),
)


@pytest.mark.parametrize(
    ("message", "runs"),
    [(IMAGE, ["data"]), (CLOUD, ["data"]), (SCAN, ["ranges", "intensities"])],
    ids=lambda value: type(value).__name__ if hasattr(value, "header") else "",
)
@pytest.mark.parametrize("frame", ["", "arm/camera_optical_frame"])
def test_what_is_patched_arrives_and_the_rest_stays(
    message: Any, runs: list[str], frame: str
) -> None:
    message.header.frame_id = frame
    bulk = ArrayTemplate(message, *runs)
    random = np.random.default_rng(1)
    for run in runs:
        numbers = bulk.numbers[run]
        assert not numbers.any()
        numbers[:] = random.integers(0, 256, len(numbers))
        setattr(message, run, array(numbers.dtype.char, numbers.tobytes()))
    message.header.stamp.sec, message.header.stamp.nanosec = 12, 345_000_000

    arrived = deserialize_message(bulk.stamped(12, 345_000_000), type(message))

    assert arrived == message


def test_a_message_without_numbers_has_none_to_be_patched():
    with pytest.raises(LayoutError, match="Image: cannot locate 'data'"):
        ArrayTemplate(Image(), "data")
