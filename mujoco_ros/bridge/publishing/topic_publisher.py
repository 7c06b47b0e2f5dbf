"""Publishers that count subscriptions and lost messages, and stay open when the model changes."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

from mujoco_ros import native
from mujoco_ros.rclpy_ext.endpoints import Endpoints

_LOG = logging.getLogger(__name__)


class TopicPublisher:
    """The publisher of one topic.

    Attributes:
        publish: Passes a message to the middleware.
    """

    def __init__(self, topic: str) -> None:
        """Publish on a topic; `publish` is set later."""
        self.topic = topic  # name of the topic
        self.joined = False  # whether a subscription has matched since this was last set to False
        # The publisher of rclpy that `publish` passes bytes to; None of another function
        self.handle: Any = None
        self._has_warned = False
        self._subscriptions = self._lost = 0
        # Number of subscriptions that compiled code serves.  # (1,) int64
        self.sent_by_compiled = np.zeros(1, dtype=np.int64)
        # Number of messages that compiled code has lost.  # (1,) int64
        self.lost_by_compiled = np.zeros(1, dtype=np.int64)

    @property
    def lost(self) -> int:
        """Number of messages that the middleware rejected, as it does under overload."""
        return self._lost + int(self.lost_by_compiled[0])

    @property
    def subscriptions(self) -> int:
        """Number of matched subscriptions."""
        return self._subscriptions

    @subscriptions.setter
    def subscriptions(self, count: int) -> None:
        self._subscriptions = count
        self.sent_by_compiled[0] = 0 if self.handle is None else count

    @property
    def publish(self) -> Callable[[Any], None]:
        """The function that passes a message to the middleware."""
        return self._publish

    @publish.setter
    def publish(self, function: Callable[[Any], None]) -> None:
        self._publish_by(function, None)

    def publish_bytes_by(self, handle: Any) -> None:
        """Pass the bytes of messages to a publisher of rclpy, its ``handle``."""
        self._publish_by(handle.publish_raw, handle)

    def _publish_by(self, function: Callable[[Any], None], handle: Any) -> None:
        self._publish, self.handle = function, handle
        self.subscriptions = self._subscriptions

    def send(self, message: Any) -> None:
        """Publish a message after compiled code's messages, or count it as lost."""
        native.flush()
        try:
            self._publish(message)
        except rclpy_implementation.RCLError as error:
            self.note_lost(str(error))

    def note_lost(self, reason: str) -> None:
        """Count a message that the middleware rejected."""
        self._lost += 1
        self._warn(reason)

    def warn_of_losses(self) -> None:
        """Log the first messages that compiled code has lost."""
        if self.lost_by_compiled[0]:
            self._warn(native.last_rejection())

    def _warn(self, reason: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            _LOG.warning("the middleware rejects messages on '%s': %s", self.topic, reason)


class PublisherPool:
    """The publishers of a model's topics; a topic of the next model keeps its publisher."""

    def __init__(
        self,
        endpoints: Endpoints,
        *,
        raw: bool = False,
        on_join: Callable[[TopicPublisher], object] | None = None,
    ) -> None:
        """Create a pool without publishers.

        Args:
            endpoints: Opens and closes publishers.
            raw: Whether all messages are bytes. The checks of `Publisher.publish`, which are left
                out then, would double the cost of a small message.
            on_join: Called in the executor's thread when a subscription has matched.
        """
        self._endpoints, self._raw, self._on_join = endpoints, raw, on_join
        self._open: dict[tuple[str, type], tuple[TopicPublisher, Publisher]] = {}

    def open(self, message_type: type, topic: str, qos: QoSProfile) -> TopicPublisher:
        """Return the publisher of a topic, which may be open already."""
        key = topic, message_type
        if key not in self._open:
            publisher = TopicPublisher(topic)

            def count(subscriptions: int) -> None:
                publisher.subscriptions = subscriptions

            def join() -> None:
                publisher.joined = True
                if self._on_join is not None:
                    self._on_join(publisher)

            # The count is first: what is published next goes to all.
            endpoint = self._endpoints.publisher(message_type, topic, qos, count, join)
            if self._raw:
                publisher.publish_bytes_by(endpoint.handle)
            else:
                publisher.publish = endpoint.publish
            self._open[key] = publisher, endpoint
        return self._open[key][0]

    @property
    def publishers(self) -> frozenset[TopicPublisher]:
        """The open publishers."""
        return frozenset(publisher for publisher, _ in list(self._open.values()))

    def close_others(self, kept: Iterable[TopicPublisher]) -> None:
        """Close all publishers but some."""
        remaining = set(kept)
        for key, (publisher, endpoint) in list(self._open.items()):
            if publisher not in remaining:
                del self._open[key]
                self._endpoints.close(endpoint)
