"""Which node publishes a frame: the simulator's, or the camera process's."""

from multiprocessing.connection import Pipe
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from mujoco_ros.cameras.ros.demand import Demanded
from mujoco_ros.cameras.ros.frame_publishers import FramePublishers
from mujoco_ros.wire.qos import SENSOR


class Publisher:
    """A publisher of the camera process's node."""

    def __init__(self) -> None:
        self.handle, self.matched, self.published = self, 0, []

    def get_subscription_count(self) -> int:
        return self.matched

    def publish_raw(self, message: bytes) -> None:
        self.published.append(message)


class Node:
    """Records its publishers."""

    def __init__(self) -> None:
        self.open: dict[str, Publisher] = {}

    def create_publisher(self, _kind: type, topic: str, *_rest: Any, **_options: Any) -> Publisher:
        self.open[topic] = Publisher()
        return self.open[topic]

    def destroy_publisher(self, publisher: Publisher) -> None:
        self.open = {topic: each for topic, each in self.open.items() if each is not publisher}


class Process:
    """The publishers of a camera process, and what the simulator gets of them."""

    def __init__(self) -> None:
        self._simulator, theirs = Pipe()
        self.publishers = FramePublishers(theirs)
        self.topic = self.publishers.open(String, "image", SENSOR)

    def handed_over(self) -> list[tuple[str, bytes]]:
        found = []
        while self._simulator.poll():
            found.append((self._simulator.recv(), self._simulator.recv_bytes()))
        return found

    def demand(self, subscriptions: int, joins: int) -> None:
        self.publishers.follow({"image": Demanded("/robot/image", subscriptions, joins)})


def test_the_simulator_gets_the_messages_until_the_own_node_has_all_subscriptions() -> None:
    process, node = Process(), Node()
    process.demand(1, 1)
    process.topic.send(b"first")
    assert process.handed_over() == [("image", b"first")]
    process.publishers.attach(node)
    own = node.open["/robot/image"]
    process.topic.send(b"not matched yet")
    own.matched = 1
    process.topic.send(b"matched")
    process.demand(2, 2)
    process.topic.send(b"for both")
    assert [message for _, message in process.handed_over()] == [b"not matched yet", b"for both"]
    assert own.published == [b"matched"]


def test_the_own_node_publishes_only_what_has_a_subscription() -> None:
    process, node = Process(), Node()
    process.publishers.attach(node)
    assert not node.open
    process.demand(1, 1)
    assert list(node.open) == ["/robot/image"]
    process.publishers.close_others([])
    assert not node.open


def test_each_subscription_that_matches_is_noted_also_if_another_leaves() -> None:
    process = Process()
    joined = []
    for subscriptions, joins in ((1, 1), (1, 2), (0, 2), (1, 3)):
        process.demand(subscriptions, joins)
        joined.append((process.topic.subscriptions, process.topic.joined))
        process.topic.joined = False
    assert joined == [(1, True), (1, True), (0, False), (1, True)]


def test_messages_are_handed_over_as_bytes() -> None:
    process = Process()
    process.topic.send(String(data="a text"))
    ((_, message),) = process.handed_over()
    assert deserialize_message(message, String).data == "a text"


def test_a_topic_that_stays_in_the_next_model_keeps_its_publisher() -> None:
    process = Process()
    process.publishers.open(String, "gone", SENSOR)
    assert process.publishers.open(String, "image", SENSOR) is process.topic
    process.publishers.close_others([process.topic])
    assert process.publishers.open(String, "image", SENSOR) is process.topic
