"""The newest message of a topic, decoded when somebody looks at it."""

import struct
from collections.abc import Callable
from typing import Any

from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from mujoco_ros.ros.endpoints import Endpoints

_NS = 1_000_000_000
_STAMP = {0: struct.Struct(">iI"), 1: struct.Struct("<iI")}
"""By the second byte of what the middleware puts in front of a message: how numbers are written."""
_FRONT = 4


class Inbox:
    """Listens to a topic of messages that begin with a header.

    Robots say far more than a controller looks at, and decoding is what costs.

    Attributes:
        topic: Name of the topic.
        stamp: Of the newest message [ns]; None before the first.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        kind: Any,
        topic: str,
        qos: QoSProfile,
        heard: Callable[[], object] = lambda: None,
    ) -> None:
        """Listen.

        Args:
            endpoints: Opens the topic.
            kind: Type of the messages.
            topic: Its name.
            qos: Quality of service.
            heard: Called after each message.
        """
        self.topic = topic
        self.stamp: int | None = None
        self._kind, self._heard = kind, heard
        self._data = b""
        self._decoded: Any = None
        self._endpoints = endpoints
        self._subscription = endpoints.subscription(kind, topic, self._take, qos, raw=True)

    @property
    def message(self) -> Any:
        """Return the newest message; there has been one."""
        if self._decoded is None:
            self._decoded = deserialize_message(self._data, self._kind)
        return self._decoded

    def close(self) -> None:
        """Listen no more."""
        self._endpoints.close(self._subscription)

    def _take(self, data: bytes) -> None:
        seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data, _FRONT)
        self.stamp = seconds * _NS + nanoseconds
        self._data, self._decoded = data, None
        self._heard()
