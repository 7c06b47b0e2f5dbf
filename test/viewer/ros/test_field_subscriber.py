"""Fields of topics on the graph."""

import time

import pytest
import rclpy
from geometry_msgs.msg import Point, PointStamped
from rclpy.context import Context
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Image

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.client_set import FieldKey
from mujoco_ros.viewer.ros.field_subscriber import FieldSubscriber

TOPIC = "/foot/point"


@pytest.fixture
def fields(ros_node):
    return FieldSubscriber(Endpoints(ros_node), lambda: 50.0)


@pytest.fixture
def until(fields, spin_until):
    def waited(condition) -> bool:
        def ticked() -> bool:
            fields.tick(time.monotonic())
            return bool(condition())

        return bool(spin_until(ticked))

    return waited


def point(x: float) -> PointStamped:
    message = PointStamped()
    message.header.stamp.sec, message.point.x = int(x), x
    return message


def test_every_message_of_a_watched_field_is_a_sample(fields, until, ros_node):
    publisher = ros_node.create_publisher(PointStamped, TOPIC, QoSProfile(depth=300))
    assert until(lambda: TOPIC in fields.topics)
    fields.watch([FieldKey(TOPIC, "point.x"), FieldKey(TOPIC, "point.y")])
    # Messages reach the subscription only after the publisher has matched it.
    assert until(lambda: publisher.publish(point(0.0)) or fields.take_samples())
    samples = []

    def collected(number: int) -> bool:
        samples.extend(it for it in fields.take_samples() if it.values["point.x"])
        return len(samples) == number

    for number in range(1, 301):
        publisher.publish(point(float(number)))
        if number % 100 == 0:
            assert until(lambda: collected(number))  # noqa: B023
    assert [it.time for it in samples] == [float(it) for it in range(1, 301)]
    assert samples[7] == (TOPIC, 8.0, {"point.x": 8.0, "point.y": 0.0})
    fields.watch(())
    assert until(lambda: publisher.get_subscription_count() == 0)


def test_the_fields_of_an_inspected_topic_are_those_of_a_message(fields, until, ros_node):
    publisher = ros_node.create_publisher(PointStamped, TOPIC, 10)
    assert fields.inspect(TOPIC) is None
    assert until(lambda: publisher.publish(point(1.0)) or fields.inspect(TOPIC))
    assert "point.z" in fields.inspect(TOPIC)
    assert fields.take_samples() == [], "nothing is watched"
    fields.inspect("")
    assert until(lambda: publisher.get_subscription_count() == 0)


def test_a_topic_has_the_type_that_is_published(fields, until, ros_node):
    publisher = ros_node.create_publisher(PointStamped, TOPIC, 10)
    with Context() as context:  # a participant has one type for a topic
        other = rclpy.create_node("other", context=context)
        other.create_subscription(Point, TOPIC, lambda _message: None, 10)
        kinds = ["geometry_msgs/msg/Point", "geometry_msgs/msg/PointStamped"]
        assert until(lambda: (TOPIC, kinds) in ros_node.get_topic_names_and_types())
        assert until(lambda: TOPIC in fields.topics)
        fields.inspect(TOPIC)
        assert until(lambda: publisher.publish(point(1.0)) or fields.inspect(TOPIC))
        assert "point.z" in fields.inspect(TOPIC)


def test_a_topic_that_this_process_has_with_another_type_is_logged_and_does_not_affect_others(
    fields, until, ros_node, caplog
):
    ros_node.create_publisher(PointStamped, TOPIC, 10)
    other_topic = f"{TOPIC}_of_hand"
    publisher = ros_node.create_publisher(PointStamped, other_topic, 10)
    with Context() as context:
        other = rclpy.create_node("other", context=context)
        other.create_publisher(Point, TOPIC, 10)
        assert until(lambda: len(ros_node.get_publishers_info_by_topic(TOPIC)) == 2)
        fields.watch([FieldKey(TOPIC, "x"), FieldKey(other_topic, "point.x")])
        assert until(lambda: publisher.publish(point(1.0)) or fields.take_samples())
        assert until(lambda: "cannot be plotted" in caplog.text)
        fields.watch([FieldKey(TOPIC, "y"), FieldKey(other_topic, "point.y")])
        assert until(lambda: publisher.publish(point(1.0)) or fields.take_samples())
    assert caplog.text.count(f"'{TOPIC}' cannot be plotted as geometry_msgs/msg/Point: ") == 1


def test_huge_messages_are_not_read(fields, until, ros_node):
    publisher = ros_node.create_publisher(Image, "/camera", 10)
    fields.watch([FieldKey("/camera", "height")])
    assert until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(Image(height=1, data=bytes(2 << 20)))
    publisher.publish(Image(height=2))
    samples = []
    assert until(lambda: samples.extend(fields.take_samples()) or samples)
    assert [it.values for it in samples] == [{"height": 2.0}]


def test_a_topic_that_appears_later_is_subscribed(fields, until, ros_node):
    fields.watch([FieldKey(TOPIC, "point.x")])
    assert until(lambda: True)
    publisher = ros_node.create_publisher(PointStamped, TOPIC, 10)
    assert until(lambda: publisher.get_subscription_count() == 1)
