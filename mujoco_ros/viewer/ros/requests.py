"""Requests of the viewer, sent from the executor's thread."""

from collections.abc import Callable

from rclpy.node import Node

from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.viewer.clients import Request


class Requests:
    """Sends requests from the executor's thread; any thread may submit one.

    Attributes:
        latest: The latest request.
    """

    def __init__(self, node: Node) -> None:
        self.latest: Request | None = None
        self._node = node

    def submit(self, name: str, send: Callable[[Request], object]) -> Request:
        """Return a request that `send` completes; an exception of `send` fails it."""
        request = self.latest = Request(name)

        def guarded_send() -> None:
            try:
                send(request)
            except Exception as error:
                request.complete(False, str(error) or repr(error))

        later(self._node, guarded_send)
        return request
