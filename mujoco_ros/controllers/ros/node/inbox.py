"""The newest message of a topic, decoded when somebody looks at it."""

import struct
from collections.abc import Callable
from typing import Any

from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints

_NS = 1_000_000_000
_STAMP = {0: struct.Struct(">iI"), 1: struct.Struct("<iI")}
"""By the second byte of what the middleware puts in front of a message: how numbers are written."""
_FRONT = 4


class StampedMessage:
    """A message that begins with a header, as it came.

    Robots say far more than a controller looks at, and decoding is what costs.

    Attributes:
        stamp: Its stamp [ns].
    """

    def __init__(self, kind: Any, data: bytes) -> None:
        """Take a message of a type, serialized."""
        seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data, _FRONT)
        self.stamp = int(seconds * _NS + nanoseconds)
        self._kind, self._data = kind, data
        self._message: Any = None

    @property
    def message(self) -> Any:
        """Return the message."""
        if self._message is None:
            self._message = deserialize_message(self._data, self._kind)
        return self._message


class Inbox:
    """Listens to a topic, and keeps what was said last.

    Nothing older waits in a queue either: a machine that is too slow for a topic would see the past
    otherwise, as far back as the queue is long.

    Attributes:
        topic: Name of the topic.
        letter: The newest message; None before the first.
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
            qos: Quality of service, but for the depth.
            heard: Called after each message.
        """
        self.topic = topic
        self.letter: StampedMessage | None = None
        self._kind, self._heard = kind, heard
        self._endpoints = endpoints
        newest = QoSProfile(depth=1, reliability=qos.reliability, durability=qos.durability)
        self._subscription = endpoints.subscription(kind, topic, self._take, newest, raw=True)

    @property
    def stamp(self) -> int | None:
        """Return the stamp of the newest message [ns]; None before the first."""
        return None if self.letter is None else self.letter.stamp

    @property
    def message(self) -> Any:
        """Return the newest message.

        Raises:
            LookupError: There was none yet.
        """
        if self.letter is None:
            raise LookupError(f"nothing was heard on '{self.topic}' yet")
        return self.letter.message

    def close(self) -> None:
        """Listen no more."""
        self._endpoints.close(self._subscription)

    def _take(self, data: bytes) -> None:
        self.letter = StampedMessage(self._kind, data)
        self._heard()
