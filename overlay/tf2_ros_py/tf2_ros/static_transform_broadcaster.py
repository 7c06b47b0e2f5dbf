"""The broadcaster of transforms that never change."""

from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from tf2_ros.transform_broadcaster import Transforms, as_list


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
        for added in as_list(transform):
            if added.child_frame_id not in self._child_frame_ids:
                self._child_frame_ids.add(added.child_frame_id)
                self.net_message.transforms.append(added)
        self.pub_tf.publish(self.net_message)
