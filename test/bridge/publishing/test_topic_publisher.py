"""Lifetime and statistics of publishers."""

from typing import Any

import pytest
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image, Imu

from mujoco_ros.bridge.publishing.topic_publisher import PublisherPool, TopicPublisher


class Endpoint:
    """A publisher of rclpy that keeps the messages."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.raw: list[bytes] = []
        self.publish, self.handle = self.messages.append, self
        self.publish_raw = self.raw.append


class Opened:
    """Endpoints of a test; `count` sets the subscriptions of a topic, one of them may `join`."""

    def __init__(self) -> None:
        self.count: dict[str, Any] = {}
        self.join: dict[str, Any] = {}
        self.open: list[Endpoint] = []

    def publisher(self, _kind: type, topic: str, _qos: Any, count: Any, join: Any) -> Endpoint:
        self.count[topic], self.join[topic] = count, join
        self.open.append(Endpoint())
        return self.open[-1]

    def close(self, endpoint: Endpoint) -> None:
        self.open.remove(endpoint)


def test_a_topic_that_the_next_model_has_stays_open_and_the_others_close():
    opened = Opened()
    pool = PublisherPool(opened)
    image = pool.open(Image, "image", qos_profile_sensor_data)
    imu = pool.open(Imu, "imu", qos_profile_sensor_data)
    assert pool.open(Image, "image", qos_profile_sensor_data) is image
    other = pool.open(Imu, "image", qos_profile_sensor_data)
    assert other is not image, "of another type"
    assert len(opened.open) == 3
    pool.close_others([imu])
    assert len(opened.open) == 1
    assert pool.open(Imu, "imu", qos_profile_sensor_data) is imu
    assert pool.open(Image, "image", qos_profile_sensor_data) is not image


@pytest.mark.parametrize("raw", [False, True])
def test_serialized_bytes_skip_the_message_checks_only_if_all_messages_are_bytes(raw):
    opened = Opened()
    PublisherPool(opened, raw=raw).open(Image, "image", qos_profile_sensor_data).send(b"1")
    (endpoint,) = opened.open
    assert (endpoint.raw, endpoint.messages) == (([b"1"], []) if raw else ([], [b"1"]))


def test_subscriptions_are_counted_and_new_ones_reported():
    opened, joined = Opened(), []
    pool = PublisherPool(opened, on_join=lambda publisher: joined.append(publisher.subscriptions))
    publisher = pool.open(Image, "image", qos_profile_sensor_data)
    assert not publisher.joined
    for count, joins in ((2, True), (1, False), (1, True), (3, True), (0, False)):
        publisher.joined = False
        opened.count["image"](count)
        if joins:
            opened.join["image"]()
        assert (publisher.subscriptions, publisher.joined) == (count, joins)
    assert joined == [2, 1, 3], "also one in place of another one"


def test_rejected_messages_are_counted_and_logged_once(caplog):
    publisher = TopicPublisher("image")

    def reject(_message: Any) -> None:
        raise rclpy_implementation.RCLError("cannot publish data")

    publisher.publish = reject
    publisher.send(b"")
    publisher.send(b"")
    assert publisher.lost == 2
    assert [record.getMessage() for record in caplog.records] == [
        "the middleware rejects messages on 'image': cannot publish data"
    ]
