"""Names and rates of the topics of a robot."""

from collections.abc import Mapping
from typing import Any

from rclpy.qos import QoSProfile

from mujoco_ros.bridge.publishing.template_publisher import NumberSource, Topic
from mujoco_ros.model.naming import topic_token, within
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.wire.qos import SENSOR


def robot_topic(
    index: int,
    robot: RobotLayout,
    kind: str,
    element: str,
    message: Any,
    numbers: Mapping[str, NumberSource],
    qos: QoSProfile = SENSOR,
    stamps: tuple[str, ...] = ("header.stamp",),
) -> Topic:
    """Return the topic ``<namespace>/<kind>/<element>`` with the rate of its kind."""
    parts = (robot.namespace, kind, topic_token(element) if element else "")
    return Topic(
        name=within(*parts),
        rate=kind,
        message=message,
        numbers=numbers,
        stamps=stamps,
        qos=qos,
        robot=index,
    )
