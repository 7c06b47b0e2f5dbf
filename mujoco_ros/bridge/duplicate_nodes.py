"""Detection of other nodes with the same name, and of other publishers of a topic."""

import contextlib
from collections.abc import Callable

from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from mujoco_ros.rclpy_ext.executor import create_wall_timer

_PERIOD_S = 1.0
_UNKNOWN = "_NODE_NAME_UNKNOWN_"
"""Name of a node that is not completely discovered."""


class DuplicateNodes:
    """Logs each node with the same name or topic once; checks every second, in the executor."""

    def __init__(
        self, node: Node, topic: str = "", concerns: Callable[[str], bool] = lambda _name: True
    ) -> None:
        """Start the timer.

        Args:
            node: The node.
            topic: Topic that only `node` should publish; empty for none.
            concerns: Returns whether another publisher is a problem, by its node's full name.
        """
        self._node, self._topic, self._concerns = node, topic, concerns
        self._logged: set[str] = set()
        self._timer = create_wall_timer(node, _PERIOD_S, self.check)

    def check(self) -> None:
        """Log the problems that are new since the last call."""
        with contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle):
            problems = set(self._problems())
            for problem in sorted(problems - self._logged):
                self._node.get_logger().warning(problem)
            self._logged = problems

    def _problems(self) -> list[str]:
        node, own, problems = self._node, self._node.get_fully_qualified_name(), []
        parts = node.get_name(), node.get_namespace()
        if node.get_node_names_and_namespaces().count(parts) > 1:
            # A killed node is discovered until its DDS lease expires.
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
