"""The message of a lidar beside its ranges."""

from typing import Any

import mujoco
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import LaserScan

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.ros.lidar import LidarSource
from mujoco_ros.cameras.ros.source import StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.lidars import HorizontalConfig, Lidar, LidarConfig

MODEL = mujoco.MjModel.from_xml_string(
    "<mujoco><worldbody><geom size='1' pos='3 0 0'/><site name='eye'/></worldbody></mujoco>"
)
CONFIG = LidarConfig(name="eye", site="eye", horizontal=HorizontalConfig(samples=4), rate=10.0)
LIDAR = Lidar(name="eye", namespace="", frame="eye", site=0, body=0, config=CONFIG)


class Opened:
    """Publishers that record their messages."""

    def __init__(self) -> None:
        self.published: list[Any] = []

    def open(self, _kind: type, topic: str, _qos: object) -> TopicPublisher:
        publisher = TopicPublisher(topic)
        publisher.publish = self.published.append
        return publisher


def test_a_scan_contains_its_rate_also_after_a_change() -> None:
    opened, data = Opened(), mujoco.MjData(MODEL)
    mujoco.mj_forward(MODEL, data)
    source = LidarSource(LIDAR, MODEL, opened, 0)
    layout = ModelLayout(robots=(), free_objects=(), cameras=(), lidars=())
    snapshot = StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time())
    source.publish(snapshot)
    source.set_parameters({"lidar.eye.rate": 20.0})
    source.publish(snapshot)
    before, after = (deserialize_message(data, LaserScan) for data in opened.published)
    assert (before.scan_time, after.scan_time) == pytest.approx((0.1, 0.05))
    assert after.ranges == before.ranges
    assert after.ranges[2] == pytest.approx(2.0)
