"""The broadcasters over a live middleware, with a genuine listener's QoS."""

from collections.abc import Callable

import pytest
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from tf2_msgs.msg import TFMessage
from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

SpinUntil = Callable[..., bool]
# QoS of tf2_ros.TransformListener
LISTENER_QOS = QoSProfile(depth=100)
STATIC_LISTENER_QOS = QoSProfile(
    depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL, history=HistoryPolicy.KEEP_LAST
)


def _transform(child: str, x: float = 0.0) -> TransformStamped:
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = "world"
    transform.transform.translation.x = x
    return transform


def _listen(node: Node, topic: str, qos: QoSProfile) -> list[TFMessage]:
    received: list[TFMessage] = []
    node.create_subscription(TFMessage, topic, received.append, qos)
    return received


def _children(message: TFMessage) -> list[str]:
    return [transform.child_frame_id for transform in message.transforms]


def test_one_transform_or_several_reach_a_listener(ros_node: Node, spin_until: SpinUntil) -> None:
    received = _listen(ros_node, "/tf", LISTENER_QOS)
    broadcaster = TransformBroadcaster(ros_node)
    assert spin_until(lambda: broadcaster.pub_tf.get_subscription_count() == 1)
    broadcaster.sendTransform(_transform("one", 1.5))
    broadcaster.sendTransform([_transform("two"), _transform("three")])
    broadcaster.sendTransform(_transform(name) for name in ("four",))
    assert spin_until(lambda: len(received) == 3)
    assert [_children(message) for message in received] == [["one"], ["two", "three"], ["four"]]
    assert received[0].transforms[0].transform.translation.x == 1.5


def test_a_late_listener_receives_every_static_transform(
    ros_node: Node, spin_until: SpinUntil
) -> None:
    broadcaster = StaticTransformBroadcaster(ros_node)
    broadcaster.sendTransform(_transform("camera"))
    broadcaster.sendTransform([_transform("imu"), _transform("lidar")])
    received = _listen(ros_node, "/tf_static", STATIC_LISTENER_QOS)
    assert spin_until(lambda: bool(received))
    assert _children(received[-1]) == ["camera", "imu", "lidar"]


def test_the_first_static_transform_of_a_child_is_kept(
    ros_node: Node, spin_until: SpinUntil
) -> None:
    broadcaster = StaticTransformBroadcaster(ros_node)
    broadcaster.sendTransform(_transform("camera", 1.0))
    broadcaster.sendTransform(_transform("camera", 2.0))
    received = _listen(ros_node, "/tf_static", STATIC_LISTENER_QOS)
    assert spin_until(lambda: bool(received))
    assert [t.transform.translation.x for t in received[-1].transforms] == [1.0]


@pytest.mark.parametrize(
    ("broadcaster", "topic", "durability"),
    [
        (TransformBroadcaster, "/tf", DurabilityPolicy.VOLATILE),
        (StaticTransformBroadcaster, "/tf_static", DurabilityPolicy.TRANSIENT_LOCAL),
    ],
)
def test_the_qos_is_that_of_the_genuine_listener(
    ros_node: Node, spin_until: SpinUntil, broadcaster: type, topic: str, durability: object
) -> None:
    broadcaster(ros_node)
    assert spin_until(lambda: bool(ros_node.get_publishers_info_by_topic(topic)))
    qos = ros_node.get_publishers_info_by_topic(topic)[0].qos_profile
    assert (qos.reliability, qos.durability) == (ReliabilityPolicy.RELIABLE, durability)


@pytest.mark.parametrize("broadcaster", [TransformBroadcaster, StaticTransformBroadcaster])
@pytest.mark.parametrize("qos", [7, QoSProfile(depth=7)])
def test_the_qos_can_be_given(ros_node: Node, broadcaster: type, qos: object) -> None:
    publisher = broadcaster(ros_node, qos).pub_tf
    assert publisher.qos_profile.depth == 7
    assert publisher.qos_profile.durability == DurabilityPolicy.VOLATILE
