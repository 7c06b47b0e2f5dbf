"""Publishing of frames: by the camera process, or by the simulator for subscriptions that are new.

The node of the simulator is matched with its subscriptions before there is an image. The camera
process is a node of its own, so that large messages delay none of the simulator's, but the
middleware needs a second or more to discover it. So the simulator gets the messages of a topic, and
publishes them, until the node of the camera process has as many subscriptions on it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message

from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.cameras.ros.demand import Demanded

_NOTHING = Demanded("", 0, 0)
_LARGE = QoSProfile(depth=2, reliability=ReliabilityPolicy.BEST_EFFORT)
"""As for sensors, but with less memory for messages that are being sent: clouds have megabytes."""


@dataclass(eq=False)
class _Topic:
    """A topic; its own publisher is opened with the first subscription."""

    kind: type
    qos: QoSProfile
    publisher: TopicPublisher
    demanded: Demanded = _NOTHING
    own: Publisher | None = None


class FramePublishers:
    """The topics of the frames of a model, which count the subscriptions of the simulator."""

    def __init__(self, connection: Connection) -> None:
        """Hand messages to the simulator through `connection`."""
        self._connection = connection
        self._node: Node | None = None
        self._topics: dict[str, _Topic] = {}
        self._demanded: Mapping[str, Demanded] = {}

    def open(self, kind: type, name: str, qos: QoSProfile) -> TopicPublisher:
        """Return the publisher of a topic, which may be open already."""
        if name not in self._topics:
            topic = self._topics[name] = _Topic(kind, qos, TopicPublisher(name))
            topic.publisher.publish = partial(self._publish, topic)
            self._follow(topic)
        return self._topics[name].publisher

    def close_others(self, kept: Iterable[TopicPublisher]) -> None:
        """Close all publishers but some."""
        remaining = set(kept)
        for name, topic in list(self._topics.items()):
            if topic.publisher not in remaining:
                del self._topics[name]
                if topic.own is not None and self._node is not None:
                    self._node.destroy_publisher(topic.own)

    def attach(self, node: Node) -> None:
        """Publish with a node from now on, where it has the subscriptions."""
        self._node = node
        self.follow(self._demanded)

    def follow(self, demanded: Mapping[str, Demanded]) -> None:
        """Take the subscriptions over from the simulator, by the names of their topics."""
        self._demanded = demanded
        for topic in self._topics.values():
            self._follow(topic)

    def _follow(self, topic: _Topic) -> None:
        publisher, before = topic.publisher, topic.demanded
        topic.demanded = demanded = self._demanded.get(publisher.topic, _NOTHING)
        publisher.subscriptions = demanded.subscriptions
        publisher.joined |= demanded.joins > before.joins
        if demanded.subscriptions and topic.own is None and self._node is not None:
            events = PublisherEventCallbacks(use_default_callbacks=False)
            qos = _LARGE if topic.qos.reliability == _LARGE.reliability else topic.qos
            topic.own = self._node.create_publisher(
                topic.kind, demanded.name, qos, event_callbacks=events
            )

    def _publish(self, topic: _Topic, message: Any) -> None:
        data = message if isinstance(message, bytes) else serialize_message(message)
        own = topic.own
        if own is not None and own.get_subscription_count() >= topic.demanded.subscriptions:
            own.handle.publish_raw(data)
        else:
            self._connection.send(topic.publisher.topic)
            self._connection.send_bytes(data)
