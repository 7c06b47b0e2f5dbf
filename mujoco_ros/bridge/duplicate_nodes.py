"""Other nodes of the same name, and others who publish what is one node's to publish."""

import contextlib
from collections.abc import Callable

from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from mujoco_ros.bridge.rclpy_ext.tasks import create_wall_timer

_LOOK_S = 1.0
_UNKNOWN = "_NODE_NAME_UNKNOWN_"
"""The name of a node that was discovered only in part."""


class DuplicateNodes:
    """Looks for other nodes that take a node's place, once a second; warns of each once.

    It belongs to the executor's thread.
    """

    def __init__(
        self, node: Node, topic: str = "", concerns: Callable[[str], bool] = lambda _name: True
    ) -> None:
        """Look for those who have the name of `node`, or publish on its `topic`.

        Args:
            node: The node; it publishes on `topic` itself.
            topic: What nobody else should publish; empty for none.
            concerns: Returns whether a publisher matters, by its node's full name.
        """
        self._node, self._topic, self._concerns = node, topic, concerns
        self._told: set[str] = set()
        self._timer = create_wall_timer(node, _LOOK_S, self.look)

    def look(self) -> None:
        """Warn of those who came; called by a timer."""
        with contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle):
            problems = set(self._problems())
            for problem in sorted(problems - self._told):
                self._node.get_logger().warning(problem)
            self._told = problems

    def _problems(self) -> list[str]:
        node, own, problems = self._node, self._node.get_fully_qualified_name(), []
        parts = node.get_name(), node.get_namespace()
        if node.get_node_names_and_namespaces().count(parts) > 1:
            # One that was killed is discovered until its lease is over.
            problems.append(
                f"another node '{own}' is in this ROS domain, unless it was killed just now: end "
                "one of the two, or give one another ROS_DOMAIN_ID"
            )
        infos = node.get_publishers_info_by_topic(self._topic) if self._topic else ()
        others = {
            f"{info.node_namespace.rstrip('/')}/{info.node_name}"
            for info in infos
            if info.node_name != _UNKNOWN
        }
        return problems + [
            f"node '{name}' publishes '{self._topic}', too: end one of the two"
            for name in others - {own}
            if self._concerns(name)
        ]
