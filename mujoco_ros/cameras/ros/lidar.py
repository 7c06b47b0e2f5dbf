"""Topic of a lidar: a scan for one row of rays, or else a point cloud."""

from array import array
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from sensor_msgs.msg import LaserScan

from mujoco_ros.cameras.ros.camera import cloud
from mujoco_ros.cameras.ros.frame_publishers import FramePublishers
from mujoco_ros.cameras.ros.source import FrameDelivery, FrameSource, StateSnapshot
from mujoco_ros.model.sensors.lidars import Lidar
from mujoco_ros.rendering.lidar import POINT, Scanner
from mujoco_ros.wire.frame_topics import lidar_topic
from mujoco_ros.wire.message_template import MessageTemplate


class LidarSource(FrameSource):
    """Casts the rays of a lidar and publishes the hits, without OpenGL."""

    products = ("casts",)

    def __init__(
        self, lidar: Lidar, model: mujoco.MjModel, publishers: FramePublishers, seed: int
    ) -> None:
        """Open the topic of a lidar in `model`; `seed` is for the noise and the delivery."""
        name = lidar.source
        self._publisher = publishers.open(*lidar_topic(lidar.topic, is_scan=lidar.is_scan))
        super().__init__(name, lidar.config.rate, [self._publisher])
        self.delivery = FrameDelivery(name, seed, lidar.config.delivery)
        self._lidar, self._model, self._seed = lidar, model, seed
        self._scanner: Scanner | None = None
        self._template: MessageTemplate | None = None

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set the lidar's parameters among `values`."""
        super().set_parameters(values)
        self._template = None  # a scan contains its rate

    def publish(self, snapshot: StateSnapshot) -> None:
        """Cast all rays and publish the hits."""
        if self._scanner is None:
            self._scanner = Scanner(self._model, self._lidar, self._seed)
        if self._template is None:
            self._template = self._blank()
        arrays = self._template.arrays
        ranges = self._scanner.cast(snapshot.data, snapshot.time)
        self.counts["casts"] += 1
        if self._lidar.is_scan:
            arrays["ranges"][:] = ranges.reshape(-1)
            arrays["intensities"][:] = self._scanner.intensities.reshape(-1)
        else:
            arrays["data"][:] = self._scanner.cloud().reshape(-1).view(np.uint8)
        stamp = snapshot.stamp
        self.send(self._publisher, self._template.stamped(stamp.sec, stamp.nanosec))

    def _blank(self) -> MessageTemplate:
        lidar = self._lidar
        if lidar.is_scan:
            message = _scan(lidar, self.schedule.rate)
            return MessageTemplate(message, arrays=["ranges", "intensities"])
        points = cloud(lidar.frame, lidar.rows, lidar.columns, POINT)
        return MessageTemplate(points, arrays=["data"])


def _scan(lidar: Lidar, rate: float) -> LaserScan:
    """Return a scan whose ranges are all zero, of `rate` scans per simulated second."""
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
