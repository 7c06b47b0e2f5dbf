"""Creation and destruction of endpoints, and checks of their peers."""

import re
import time
from collections.abc import Callable, Iterator

import pytest
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.topic_endpoint_info import TopicEndpointInfo
from sensor_msgs.msg import JointState
from simulators import Listener
from std_msgs.msg import Bool, String

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.endpoints import Endpoints

_RELIABLE = QoSProfile(depth=10)
_BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class _Log:
    """Records the warnings of a node."""

    def __init__(self) -> None:
        self.logged: list[str] = []
        self.warning = self.logged.append


class Opened:
    """Endpoints of a node, and a listener elsewhere in their domain."""

    def __init__(self, listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
        self.listener = listener
        self.node = Node("opener", context=listener.node.context)
        listener.add(self.node)
        self.log = _Log()
        monkeypatch.setattr(self.node, "get_logger", lambda: self.log)
        self.endpoints = Endpoints(self.node)

    def until(self, condition: Callable[[], bool]) -> bool:
        return self.listener.spin_until(condition)

    def settled(self) -> None:
        """Check every endpoint more than once."""
        self.listener.spin_for(0.5)


@pytest.fixture
def stranger(listener: Listener) -> Iterator[Listener]:
    """A listener like in another process, because one process has one type for a topic."""
    stranger = Listener(listener.domain)
    yield stranger
    stranger.close()


@pytest.fixture
def opened(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    opened = Opened(listener, monkeypatch)
    yield opened
    for subscription in list(listener.node.subscriptions):
        listener.node.destroy_subscription(subscription)
    for publisher in list(listener.node.publishers):
        if publisher.topic_name.endswith("/topic"):
            listener.node.destroy_publisher(publisher)
    opened.node.destroy_node()


def test_no_endpoint_has_event_handlers(opened: Opened) -> None:
    """An event during the destruction of the endpoint would end the process."""
    publisher = opened.endpoints.publisher(String, "topic", _RELIABLE)
    subscription = opened.endpoints.subscription(String, "topic", lambda _: None, _RELIABLE)
    assert publisher.event_handlers == subscription.event_handlers == []


def test_a_publisher_gets_the_number_of_its_subscriptions(opened: Opened) -> None:
    counts: list[int] = []
    publisher = opened.endpoints.publisher(String, "topic", _RELIABLE, counts.append)
    silent = opened.endpoints.publisher(String, "other", _RELIABLE)
    opened.settled()
    assert counts == []
    node = opened.listener.node
    subscriptions = [node.create_subscription(String, "topic", lambda _: None, 10)]
    assert opened.until(lambda: counts == [1])
    subscriptions.append(node.create_subscription(String, "topic", lambda _: None, 10))
    assert opened.until(lambda: counts == [1, 2])
    for subscription in subscriptions:
        node.destroy_subscription(subscription)
    assert opened.until(lambda: counts[-1] == 0)
    for endpoint in (publisher, silent):
        opened.endpoints.close(endpoint)


def test_a_publisher_notices_a_subscription_that_takes_the_place_of_another_one(
    opened: Opened,
) -> None:
    counts: list[int] = []
    joins: list[int] = []
    publisher = opened.endpoints.publisher(
        String, "topic", _RELIABLE, counts.append, lambda: joins.append(counts[-1])
    )
    node = opened.listener.node
    subscription = node.create_subscription(String, "topic", lambda _: None, 10)
    assert opened.until(lambda: joins == [1])
    node.destroy_subscription(subscription)  # polls need a spinning executor
    node.create_subscription(String, "topic", lambda _: None, 10)
    time.sleep(0.5)  # both are discovered before the next poll
    assert opened.until(lambda: joins == [1, 1])
    opened.endpoints.close(publisher)


def test_a_topic_has_one_type_if_others_are_refused(opened: Opened) -> None:
    endpoints = Endpoints(opened.node, refuse_two_types=True)
    opened_before = [
        endpoints.publisher(String, "topic", _RELIABLE),
        endpoints.subscription(String, "topic", None, _RELIABLE),
    ]
    problem = "'/topic' would be std_msgs/msg/Bool, and it is std_msgs/msg/String already"
    for name in ("topic", "/topic"):
        with pytest.raises(UserInputError, match=problem):
            endpoints.publisher(Bool, name, _RELIABLE)
        with pytest.raises(UserInputError, match=problem):
            endpoints.subscription(Bool, name, None, _RELIABLE)
    for endpoint in opened_before:
        endpoints.close(endpoint)
    endpoints.close(endpoints.publisher(Bool, "topic", _RELIABLE))


def test_a_closed_endpoint_is_destroyed_once(opened: Opened) -> None:
    counts: list[int] = []
    publisher = opened.endpoints.publisher(String, "topic", _RELIABLE, counts.append)
    subscription = opened.endpoints.subscription(String, "topic", lambda _: None, _RELIABLE)
    assert opened.until(lambda: counts == [1])
    for _ in range(2):
        opened.endpoints.close(subscription)
        opened.endpoints.close(publisher)
    assert opened.until(lambda: opened.listener.node.count_publishers("topic") == 0)
    assert opened.until(lambda: opened.listener.node.count_subscribers("topic") == 0)
    opened.settled()
    assert counts == [1]


def test_the_executor_leaves_the_messages_of_a_subscription_without_callback(
    opened: Opened,
) -> None:
    counts: list[int] = []
    publisher = opened.endpoints.publisher(String, "topic", _RELIABLE, counts.append)
    received: list[str] = []
    subscription = opened.endpoints.subscription(
        String, "topic", None, QoSProfile(depth=1), raw=True
    )
    opened.endpoints.subscription(String, "topic", lambda it: received.append(it.data), _RELIABLE)
    assert opened.until(lambda: counts[-1:] == [2])
    for text in ("first", "second"):
        publisher.publish(String(data=text))
    assert opened.until(lambda: received == ["first", "second"])
    opened.settled()
    data, _ = subscription.handle.take_message(String, True)
    assert deserialize_message(data, String).data == "second"
    assert subscription.handle.take_message(String, True) is None
    opened.endpoints.close(subscription)
    assert opened.until(lambda: counts[-1] == 1)


@pytest.mark.parametrize(
    ("offered", "asked", "reason"),
    [
        (_BEST_EFFORT, _RELIABLE, "Best effort publisher and reliable subscription"),
        (_RELIABLE, _LATCHED, "Volatile publisher and transient local subscription"),
    ],
)
def test_a_subscriber_that_requests_an_incompatible_qos_is_logged_once(
    opened: Opened, offered: QoSProfile, asked: QoSProfile, reason: str
) -> None:
    opened.endpoints.publisher(String, "topic", offered)
    opened.listener.node.create_subscription(String, "topic", lambda _: None, asked)
    opened.listener.node.create_subscription(String, "topic", lambda _: None, _BEST_EFFORT)
    expected = f"node 'listener' requests an incompatible QoS of '/topic': {reason}"
    assert opened.until(lambda: opened.log.logged == [expected])
    opened.settled()
    assert opened.log.logged == [expected]
    opened.listener.node.create_subscription(String, "topic", lambda _: None, asked)
    assert opened.until(lambda: opened.log.logged == [expected] * 2)


def test_a_publisher_that_offers_an_incompatible_qos_is_logged_once(opened: Opened) -> None:
    opened.endpoints.subscription(String, "topic", lambda _: None, _RELIABLE)
    opened.listener.node.create_publisher(String, "topic", _BEST_EFFORT)
    opened.listener.node.create_publisher(String, "topic", _RELIABLE)
    expected = (
        "messages of node 'listener' on '/topic' are not received: "
        "Best effort publisher and reliable subscription"
    )
    assert opened.until(lambda: opened.log.logged == [expected])
    opened.settled()
    assert opened.log.logged == [expected]


def test_an_endpoint_of_another_type_is_logged(opened: Opened, stranger: Listener) -> None:
    opened.endpoints.subscription(String, "topic", lambda _: None, _RELIABLE)
    opened.endpoints.publisher(String, "shown/topic", _RELIABLE)
    stranger.node.create_publisher(JointState, "topic", _RELIABLE)
    stranger.node.create_subscription(JointState, "shown/topic", lambda _: None, _RELIABLE)
    expected = {
        "publishes '/topic' as sensor_msgs/msg/JointState, but it must be std_msgs/msg/String",
        "subscribes to '/shown/topic' as sensor_msgs/msg/JointState, but it is std_msgs/msg/String",
    }
    # The middleware does not always deliver a node's name.
    named = re.compile("(node 'listener'|a node) ")
    assert opened.until(lambda: {named.sub("", each) for each in opened.log.logged} == expected)


def test_a_peer_whose_node_never_gets_a_name_is_logged(
    opened: Opened, stranger: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = opened.node.get_publishers_info_by_topic

    def nameless(topic: str) -> list[TopicEndpointInfo]:
        found = find(topic)
        for info in found:
            info.node_name = "_NODE_NAME_UNKNOWN_"
        return found

    monkeypatch.setattr(opened.node, "get_publishers_info_by_topic", nameless)
    opened.endpoints.subscription(String, "topic", lambda _: None, _RELIABLE)
    stranger.node.create_publisher(JointState, "topic", _RELIABLE)
    assert opened.until(lambda: bool(opened.log.logged))
    (problem,) = opened.log.logged
    assert problem.startswith("a node publishes '/topic' as sensor_msgs/msg/JointState, but")


def test_compatible_endpoints_are_not_logged(opened: Opened) -> None:
    counts: list[int] = []
    opened.endpoints.publisher(String, "topic", _LATCHED, counts.append)
    opened.endpoints.subscription(String, "topic", lambda _: None, _BEST_EFFORT)
    for qos in (_RELIABLE, _BEST_EFFORT, _LATCHED):
        opened.listener.node.create_subscription(String, "topic", lambda _: None, qos)
        opened.listener.node.create_publisher(String, "topic", qos)
    assert opened.until(lambda: bool(counts) and counts[-1] == 4)
    opened.settled()
    assert opened.log.logged == []


def test_a_delayed_call_is_made_after_its_delay(opened: Opened) -> None:
    called: list[str] = []
    opened.endpoints.later(0.4, lambda: called.append("late"))
    opened.endpoints.later(0.0, lambda: called.append("soon"))
    assert opened.until(lambda: called == ["soon"])
    assert opened.until(lambda: called == ["soon", "late"])
