"""What a lidar's message says besides what its rays have hit."""

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
    """Outlets that keep what is published."""

    def __init__(self) -> None:
        self.published: list[Any] = []

    def open(self, _kind: type, topic: str, _qos: object) -> TopicPublisher:
        publisher = TopicPublisher(topic)
        publisher.publish = self.published.append
        return publisher


def test_a_scan_tells_how_often_it_comes_also_when_that_has_changed() -> None:
    opened, data = Opened(), mujoco.MjData(MODEL)
    mujoco.mj_forward(MODEL, data)
    source = LidarSource(LIDAR, MODEL, opened, 0)
    layout = ModelLayout(robots=(), free_objects=(), cameras=(), lidars=())
    moment = StateSnapshot(model=MODEL, data=data, layout=layout, time=0.0, stamp=Time())
    source.take(moment)
    source.change({"lidar.eye.rate": 20.0})
    source.take(moment)
    before, after = (deserialize_message(said, LaserScan) for said in opened.published)
    assert (before.scan_time, after.scan_time) == pytest.approx((0.1, 0.05))
    assert after.ranges == before.ranges
    assert after.ranges[2] == pytest.approx(2.0)
