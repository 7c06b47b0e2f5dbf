"""The listener of tf2_ros: fills a buffer from /tf and /tf_static."""

from threading import Thread

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from tf2_msgs.msg import TFMessage

from tf2_ros.buffer import Buffer
from tf2_ros.exceptions import InvalidArgumentException

_AUTHORITY = "default_authority"


class TransformListener:
    """Adds the transforms of two topics to a buffer.

    Args:
        buffer: The buffer.
        node: Node that subscribes.
        spin_thread: Whether a thread of the listener spins the node.
        qos: Profile or depth of /tf; reliable with depth 100 if not given.
        static_qos: Profile or depth of /tf_static; transient local with depth 100 if not given.
        tf_topic: Topic of changing transforms.
        tf_static_topic: Topic of static transforms.
    """

    def __init__(
        self,
        buffer: Buffer,
        node: Node,
        *,
        spin_thread: bool = False,
        qos: QoSProfile | int | None = None,
        static_qos: QoSProfile | int | None = None,
        tf_topic: str = "/tf",
        tf_static_topic: str = "/tf_static",
    ) -> None:
        if qos is None:
            qos = QoSProfile(depth=100)
        if static_qos is None:
            static_qos = QoSProfile(
                depth=100,
                durability=DurabilityPolicy.TRANSIENT_LOCAL,
                history=HistoryPolicy.KEEP_LAST,
            )
        self.buffer, self.node = buffer, node
        self.group = ReentrantCallbackGroup()
        self.tf_sub = node.create_subscription(
            TFMessage, tf_topic, self.callback, qos, callback_group=self.group
        )
        self.tf_static_sub = node.create_subscription(
            TFMessage, tf_static_topic, self.static_callback, static_qos, callback_group=self.group
        )
        if spin_thread:
            self.executor = SingleThreadedExecutor()
            self.executor.add_node(node)
            self.dedicated_listener_thread = Thread(target=self.executor.spin, daemon=True)
            self.dedicated_listener_thread.start()

    def unregister(self) -> None:
        """End both subscriptions."""
        self.node.destroy_subscription(self.tf_sub)
        self.node.destroy_subscription(self.tf_static_sub)

    def callback(self, data: TFMessage) -> None:
        """Add changing transforms."""
        self._add(data, is_static=False)

    def static_callback(self, data: TFMessage) -> None:
        """Add static transforms."""
        self._add(data, is_static=True)

    def _add(self, data: TFMessage, *, is_static: bool) -> None:
        add = self.buffer.set_transform_static if is_static else self.buffer.set_transform
        for transform in data.transforms:
            try:
                add(transform, _AUTHORITY)
            except InvalidArgumentException as error:
                self.node.get_logger().error(str(error))
