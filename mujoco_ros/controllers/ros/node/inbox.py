"""The newest message of a topic, deserialized on first use."""

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription

from mujoco_ros.rclpy_ext.endpoints import Endpoints

T = TypeVar("T")

_NS = 1_000_000_000
_STAMP = {0: struct.Struct(">iI"), 1: struct.Struct("<iI")}
"""Byte order by the second byte of the CDR encapsulation header."""
_HEADER_SIZE = 4
DISCOVERY_S = 2.0
"""Wall time in which a publisher surely discovers a new subscription."""


class StampedMessage:
    """A serialized message that starts with a header.

    Robots publish far more messages than a controller reads, and deserialization is the main cost.

    Attributes:
        stamp: Stamp of the header [ns].
    """

    def __init__(self, kind: Any, data: bytes) -> None:
        """Create a message from its type and its serialized data."""
        seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data, _HEADER_SIZE)
        self.stamp = int(seconds * _NS + nanoseconds)
        self._kind, self._data = kind, data
        self._message: Any = None

    @property
    def message(self) -> Any:
        """The deserialized message."""
        if self._message is None:
            self._message = deserialize_message(self._data, self._kind)
        return self._message


class Inbox:
    """Subscribes to a topic and keeps its newest message.

    The subscription has a queue of depth 1, because a slow machine would process old messages.

    Attributes:
        topic: Name of the topic.
        newest: The newest message; None before the first.
        count: Number of messages.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        kind: Any,
        topic: str,
        qos: QoSProfile,
        received: Callable[[], object] | None = None,
        *,
        polled: bool = False,
    ) -> None:
        """Subscribe.

        Args:
            endpoints: Opens the subscription.
            kind: Type of the messages.
            topic: Name of the topic.
            qos: Quality of service; its depth is ignored.
            received: Called after each message.
            polled: Whether messages arrive in `poll` only. Others then cost nothing.
        """
        self.topic = topic
        self.newest: StampedMessage | None = None
        self.count = 0
        self._kind, self._received, self._polled = kind, received, polled
        self._endpoints = endpoints
        self._qos = QoSProfile(depth=1, reliability=qos.reliability, durability=qos.durability)
        self._subscription = self._subscribe()

    @property
    def stamp(self) -> int | None:
        """Stamp of the newest message [ns]; None before the first."""
        return None if self.newest is None else self.newest.stamp

    @property
    def message(self) -> Any:
        """The newest message; LookupError before the first."""
        if self.newest is None:
            raise LookupError(f"no message on '{self.topic}' yet")
        return self.newest.message

    def poll(self) -> None:
        """Take the newest message that has not been taken, if this inbox is polled."""
        if not self._polled:
            return
        with self._subscription.handle:
            taken = self._subscription.handle.take_message(self._kind, True)
        if taken is not None:
            self._take(taken[0])

    def renew(self) -> None:
        """Open the subscription again; the old one is closed when the new one is discovered."""
        outdated, self._subscription = self._subscription, self._subscribe()
        self._endpoints.later(DISCOVERY_S, lambda: self._endpoints.close(outdated))

    def close(self) -> None:
        """Close the subscription."""
        self._endpoints.close(self._subscription)

    def _subscribe(self) -> Subscription:
        take = None if self._polled else self._take
        return self._endpoints.subscription(self._kind, self.topic, take, self._qos, raw=True)

    def _take(self, data: bytes) -> None:
        self.newest = StampedMessage(self._kind, data)
        self.count += 1
        if self._received is not None:
            self._received()


class SensorReadings(Mapping[str, T], Generic[T]):
    """Readings of some sensors at one instant, by name; later messages do not change them."""

    def __init__(self, messages: Mapping[str, StampedMessage], read: Callable[[Any], T]) -> None:
        """Store messages that `read` converts to readings."""
        self._messages, self._read = messages, read
        self._readings: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        """Return the reading of a sensor."""
        if name not in self._readings:
            self._readings[name] = self._read(self._messages[name].message)
        return self._readings[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._messages)

    def __len__(self) -> int:
        """Return the number of sensors."""
        return len(self._messages)
