"""Warnings about duplicate nodes and publishers."""

from collections.abc import Callable

import pytest
from rclpy.node import Node
from simulators import Listener
from std_msgs.msg import String

from mujoco_ros.rclpy_ext.endpoints import DuplicateNodes


class _Log:
    """Records the warnings of a node."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.warning = self.warnings.append


@pytest.fixture
def node(listener: Listener) -> Callable[[str], Node]:
    """A function that makes a node which publishes on /orders."""

    def make(name: str) -> Node:
        node = Node(name, context=listener.node.context)
        node.create_publisher(String, "/orders", 1)
        return node

    return make


def test_each_duplicate_node_and_publisher_is_logged_once_until_it_disappears(
    listener: Listener, node: Callable[[str], Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, log = node("boss"), _Log()
    monkeypatch.setattr(own, "get_logger", lambda: log)
    duplicates = DuplicateNodes(own, "/orders", lambda name: name != "/helper")

    def logs(*parts: str) -> bool:
        log.warnings.clear()
        duplicates.check()
        return len(log.warnings) == len(parts) and all(
            part in warning for part, warning in zip(parts, log.warnings, strict=True)
        )

    assert logs()
    helper = node("helper")
    assert listener.spin_until(lambda: own.count_publishers("/orders") == 2)
    assert logs(), "the helper is ignored"
    others = [node("boss"), node("rival")]
    assert listener.spin_until(
        lambda: logs("another node '/boss' is in", "node '/rival' publishes '/orders', too")
    )
    assert logs(), "they are logged once"
    for other in (*others, helper):
        other.destroy_node()
    assert listener.spin_until(lambda: own.count_publishers("/orders") == 1)
    assert logs()
    others = [node("boss")]
    assert listener.spin_until(lambda: logs("another node '/boss' is in"))
    for other in (*others, own):
        other.destroy_node()
