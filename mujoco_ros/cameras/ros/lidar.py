"""A lidar's topic: a scan of a plane, or a cloud."""

from array import array
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from sensor_msgs.msg import LaserScan, PointCloud2

from mujoco_ros.bridge.publishing.message_template import MessageTemplate
from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool
from mujoco_ros.bridge.publishing.topics import SENSOR
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.cameras.ros.camera_messages import cloud
from mujoco_ros.cameras.ros.source import FrameSource, StateSnapshot
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.sensors.lidars import Lidar
from mujoco_ros.rendering.lidar import POINT, Scanner


class LidarSource(FrameSource):
    """Casts a lidar's rays and publishes what they hit; that takes no OpenGL."""

    computes = ("casts",)

    def __init__(
        self, lidar: Lidar, model: mujoco.MjModel, publishers: PublisherPool, seed: int
    ) -> None:
        """Open the topic of a lidar in `model`: ``scan`` for one row of rays, else ``points``."""
        self._lidar, self._model, self._seed = lidar, model, seed
        kind, topic = (LaserScan, "scan") if lidar.is_scan else (PointCloud2, "points")
        name = lidar_topics(lidar)
        self._publisher = publishers.open(kind, f"{name}/{topic}", SENSOR)
        super().__init__(name, lidar.config.rate, [self._publisher])
        self._scanner: Scanner | None = None
        self._template: MessageTemplate | None = None

    def change(self, values: Mapping[str, Any]) -> None:
        """Take over those of its parameters that are among `values`."""
        super().change(values)
        self._template = None  # a scan tells how often it comes

    def take(self, moment: StateSnapshot) -> None:
        """Cast all rays, and publish what they hit."""
        if self._scanner is None:
            self._scanner = Scanner(self._model, self._lidar, self._seed)
        if self._template is None:
            self._template = self._blank()
        arrays = self._template.arrays
        ranges = self._scanner.cast(moment.data, moment.time)
        self.counts["casts"] += 1
        if "data" in arrays:
            arrays["data"][:] = self._scanner.cloud().reshape(-1).view(np.uint8)
        else:
            arrays["ranges"][:] = ranges.reshape(-1)
            arrays["intensities"][:] = self._scanner.intensities.reshape(-1)
        self._publisher.send(self._template.stamped(moment.stamp.sec, moment.stamp.nanosec))

    def _blank(self) -> MessageTemplate:
        if self._lidar.is_scan:
            message = scan(self._lidar, self.pace.rate)
            return MessageTemplate(message, arrays=["ranges", "intensities"])
        return MessageTemplate(points(self._lidar), arrays=["data"])


def lidar_topics(lidar: Lidar) -> str:
    """Return where the topics of a lidar are."""
    return within(lidar.namespace, "lidar", topic_token(lidar.name))


def scan(lidar: Lidar, rate: float) -> LaserScan:
    """Return a scan whose ranges are all zero, of which there are `rate` a second."""
    config = lidar.config
    message = LaserScan(
        angle_min=config.horizontal.min,
        angle_max=config.horizontal.last,
        angle_increment=config.horizontal.increment,
        time_increment=0.0,  # all rays are cast at once
        scan_time=1 / rate,
        range_min=config.range.min,
        range_max=config.range.max,
        ranges=array("f", bytes(4 * lidar.columns)),
        intensities=array("f", bytes(4 * lidar.columns)),
    )
    message.header.frame_id = lidar.frame
    return message


def points(lidar: Lidar) -> PointCloud2:
    """Return a cloud whose points are all zero."""
    return cloud(lidar.frame, lidar.rows, lidar.columns, POINT)
