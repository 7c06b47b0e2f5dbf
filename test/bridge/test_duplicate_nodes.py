"""Other nodes that take a node's place are seen, and warned of."""

from collections.abc import Callable

import pytest
from rclpy.node import Node
from simulators import Listener
from std_msgs.msg import String

from mujoco_ros.bridge.duplicate_nodes import DuplicateNodes


class _Log:
    """Takes down what a node warns of."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.warning = self.said.append


@pytest.fixture
def node(listener: Listener) -> Callable[[str], Node]:
    """A function that makes a node which publishes on /orders."""

    def make(name: str) -> Node:
        node = Node(name, context=listener.node.context)
        node.create_publisher(String, "/orders", 1)
        return node

    return make


def test_each_namesake_and_rival_is_warned_of_once_until_it_is_gone(
    listener: Listener, node: Callable[[str], Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, log = node("boss"), _Log()
    monkeypatch.setattr(own, "get_logger", lambda: log)
    duplicates = DuplicateNodes(own, "/orders", lambda name: name != "/helper")

    def says(*parts: str) -> bool:
        log.said.clear()
        duplicates.check()
        return len(log.said) == len(parts) and all(
            part in said for part, said in zip(parts, log.said, strict=True)
        )

    assert says()
    helper = node("helper")
    assert listener.spin_until(lambda: own.count_publishers("/orders") == 2)
    assert says(), "one that is of no concern"
    others = [node("boss"), node("rival")]
    assert listener.spin_until(
        lambda: says("another node '/boss' is in", "node '/rival' publishes '/orders', too")
    )
    assert says(), "they are known"
    for other in (*others, helper):
        other.destroy_node()
    assert listener.spin_until(lambda: own.count_publishers("/orders") == 1)
    assert says()
    others = [node("boss")]
    assert listener.spin_until(lambda: says("another node '/boss' is in"))
    for other in (*others, own):
        other.destroy_node()
