"""Publishers of a model's topics; those that the next model has too stay open."""

import logging
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints

_LOG = logging.getLogger(__name__)


class ArrayPublisher:
    """A publisher, and who listens to it.

    Attributes:
        listeners: Matched subscriptions.
        joined: Whether somebody has begun to listen since the last frame.
        is_new: Whether its next frame may take long, as nothing is known of the model's yet.
        lost: Messages that the middleware did not take, as it does under overload.
    """

    publisher: Publisher

    def __init__(self, kind: type, topic: str) -> None:
        """Publish messages of a kind on a topic; `publisher` is set later."""
        self.kind = kind
        self.topic = topic
        self.listeners = 0
        self.joined = False
        self.is_new = True
        self.lost = 0

    def heard(self, count: int) -> None:
        """Note how many listen."""
        self.joined |= count > self.listeners
        self.listeners = count

    def publish(self, message: Any) -> None:
        """Publish a message, or its bytes."""
        try:
            self.publisher.publish(message)
        except rclpy_implementation.RCLError as error:
            if not self.lost:
                _LOG.warning("messages on '%s' get lost: %s", self.topic, error)
            self.lost += 1


class CameraPublishers:
    """Opens outlets, and closes those that are of no use any more."""

    def __init__(self, endpoints: Endpoints) -> None:
        """Open publishers by `endpoints`."""
        self._endpoints = endpoints
        self._open: dict[tuple[str, type], ArrayPublisher] = {}
        self._wanted: set[tuple[str, type]] = set()

    def outlet(self, kind: type, topic: str, qos: QoSProfile) -> ArrayPublisher:
        """Return the outlet of a topic, which may be open since an earlier model."""
        key = (topic, kind)
        self._wanted.add(key)
        if key not in self._open:
            outlet = ArrayPublisher(kind, topic)
            outlet.publisher = self._endpoints.publisher(kind, topic, qos, outlet.heard)
            self._open[key] = outlet
        self._open[key].is_new = True
        return self._open[key]

    def close_others(self) -> None:
        """Close what nobody has asked for since the last time."""
        for key in self._open.keys() - self._wanted:
            self._endpoints.close(self._open.pop(key).publisher)
        self._wanted = set()
