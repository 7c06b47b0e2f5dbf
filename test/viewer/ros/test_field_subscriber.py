"""Fields of topics on the graph."""

import time
from math import isnan

import numpy as np
import pytest
import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, PointStamped, PoseStamped, TransformStamped
from rclpy.context import Context
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Bool, Float64MultiArray, Header, String
from tf2_msgs.msg import TFMessage

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.clients import FieldKey
from mujoco_ros.viewer.ros.field_subscriber import (
    FieldSubscriber,
    message_time,
    numeric_paths,
    reader,
)

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


def inspect(fields, topic: str):
    """Return the paths of the fields of a topic, as a page that shows them does."""
    return fields.inspect(topic, time.monotonic())


def test_every_message_of_a_watched_field_is_a_sample(fields, until, ros_node):
    publisher = ros_node.create_publisher(PointStamped, TOPIC, QoSProfile(depth=300))
    assert until(lambda: TOPIC in fields.topics)
    assert fields.of_type("geometry_msgs/msg/PointStamped") == [TOPIC]
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
    assert inspect(fields, TOPIC) is None
    assert until(lambda: publisher.publish(point(1.0)) or inspect(fields, TOPIC))
    assert "point.z" in inspect(fields, TOPIC)
    assert fields.take_samples() == [], "nothing is watched"
    fields.tick(time.monotonic() + 60.0)
    assert until(lambda: publisher.get_subscription_count() == 0)


def test_pages_inspect_topics_at_the_same_time(fields, until, ros_node):
    topics = TOPIC, f"{TOPIC}_of_hand"
    publishers = [ros_node.create_publisher(PointStamped, topic, 10) for topic in topics]

    def all_known() -> bool:
        for publisher in publishers:
            publisher.publish(point(1.0))
        return None not in [inspect(fields, topic) for topic in topics]

    assert until(all_known)


def test_a_topic_has_the_type_that_is_published(fields, until, ros_node):
    publisher = ros_node.create_publisher(PointStamped, TOPIC, 10)
    with Context() as context:  # a participant has one type for a topic
        other = rclpy.create_node("other", context=context)
        other.create_subscription(Point, TOPIC, lambda _message: None, 10)
        kinds = ["geometry_msgs/msg/Point", "geometry_msgs/msg/PointStamped"]
        assert until(lambda: (TOPIC, kinds) in ros_node.get_topic_names_and_types())
        assert until(lambda: TOPIC in fields.topics)
        inspect(fields, TOPIC)
        assert until(lambda: publisher.publish(point(1.0)) or inspect(fields, TOPIC))
        assert "point.z" in inspect(fields, TOPIC)


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


JOINTS = JointState(name=["left knee", "arm/elbow.x"], position=[0.5, -1.5], effort=[3.0, 4.0])


def test_every_numeric_field_has_a_path_and_a_value():
    message = PoseStamped()
    message.pose.position.y, message.header.stamp.sec = 2.5, 7
    paths = numeric_paths(message)
    assert "pose.position.y" in paths
    assert reader("pose.position.y")(message) == 2.5
    assert reader("header.stamp.sec")(message) == 7.0
    assert len(paths) == 9
    assert numeric_paths(String(data="5")) == ()
    assert [reader(it)(Bool(data=True)) for it in numeric_paths(Bool())] == [1.0]


def test_elements_are_found_by_the_names_of_the_message_in_any_order():
    paths = numeric_paths(JOINTS)
    assert "position[left knee]" in paths
    assert "velocity[left knee]" not in paths
    read = reader("effort[arm/elbow.x]")
    assert read(JOINTS) == 4.0
    assert read(JointState(name=["arm/elbow.x"], effort=[6.0])) == 6.0
    assert isnan(read(JointState(name=["other"], effort=[6.0])))


def test_elements_without_names_have_indices():
    message = Float64MultiArray(data=[1.0, 2.0, 3.0])
    assert reader("data[2]")(message) == 3.0
    assert "data[2]" in numeric_paths(message)
    assert isnan(reader("data[3]")(message))
    frames = TFMessage(transforms=[TransformStamped(), TransformStamped()])
    frames.transforms[1].transform.translation.z = 4.0
    assert reader("transforms[1].transform.translation.z")(frames) == 4.0
    assert "transforms[1].transform.translation.z" in numeric_paths(frames)


def test_the_list_of_a_large_message_is_limited():
    assert len(numeric_paths(Image(data=np.zeros(10_000, np.uint8).tobytes()))) < 200
    frames = TFMessage(transforms=[TransformStamped()] * 1000)
    assert len(numeric_paths(frames)) <= 2000


@pytest.mark.parametrize(
    ("message", "time"),
    [
        (JointState(header=Header(stamp=Time(sec=12, nanosec=500_000_000))), 12.5),
        (Clock(clock=Time(sec=13)), 13.0),
        (JointState(), 14.0),
        (Float64MultiArray(), 14.0),
        (DiagnosticArray(header=Header(stamp=Time(sec=1_700_000_000))), 14.0),
    ],
)
def test_the_time_is_that_of_the_stamp_on_the_simulated_clock(message, time):
    assert message_time(message, 14.0) == time
