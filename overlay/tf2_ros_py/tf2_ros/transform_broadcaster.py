"""The broadcaster of transforms that change."""

from collections.abc import Iterable
from typing import TypeAlias, cast

from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import QoSProfile
from tf2_msgs.msg import TFMessage

Transforms: TypeAlias = TransformStamped | Iterable[TransformStamped]


def as_list(transform: Transforms) -> list[TransformStamped]:
    """Return one transform or several as a list."""
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
        self.pub_tf.publish(TFMessage(transforms=as_list(transform)))
