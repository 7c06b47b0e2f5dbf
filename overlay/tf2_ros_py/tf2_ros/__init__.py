"""The broadcasters of tf2_ros, with the genuine signatures, topics and QoS."""

from collections.abc import Iterable
from typing import TypeAlias, cast

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

__all__ = ["StaticTransformBroadcaster", "TransformBroadcaster"]

Transforms: TypeAlias = TransformStamped | Iterable[TransformStamped]


def _as_list(transform: Transforms) -> list[TransformStamped]:
    if isinstance(transform, TransformStamped):
        return [transform]
    return list(cast(Iterable[TransformStamped], transform))


class TransformBroadcaster:
    """Publishes transforms that change, on /tf.

    Args:
        node: Node that publishes.
        qos: Profile or history depth; reliable with depth 100 if not given.
    """

    def __init__(self, node: Node, qos: QoSProfile | int | None = None) -> None:
        if qos is None:
            qos = QoSProfile(depth=100)
        self.pub_tf = node.create_publisher(TFMessage, "/tf", qos)

    def sendTransform(self, transform: Transforms) -> None:  # noqa: N802
        """Publish one transform or several."""
        self.pub_tf.publish(TFMessage(transforms=_as_list(transform)))


class StaticTransformBroadcaster:
    """Publishes transforms that never change, latched, on /tf_static.

    Every message repeats all transforms sent before, since a late subscriber is given the last
    message only.  The first transform of a child frame is the one that counts.

    Args:
        node: Node that publishes.
        qos: Profile or history depth; transient local with depth 1 if not given.
    """

    def __init__(self, node: Node, qos: QoSProfile | int | None = None) -> None:
        if qos is None:
            qos = QoSProfile(
                depth=1,
                durability=DurabilityPolicy.TRANSIENT_LOCAL,
                history=HistoryPolicy.KEEP_LAST,
            )
        self.pub_tf = node.create_publisher(TFMessage, "/tf_static", qos)
        self.net_message = TFMessage()
        self._child_frame_ids: set[str] = set()

    def sendTransform(self, transform: Transforms) -> None:  # noqa: N802
        """Publish one transform or several, together with all earlier ones."""
        for added in _as_list(transform):
            if added.child_frame_id not in self._child_frame_ids:
                self._child_frame_ids.add(added.child_frame_id)
                self.net_message.transforms.append(added)
        self.pub_tf.publish(self.net_message)
