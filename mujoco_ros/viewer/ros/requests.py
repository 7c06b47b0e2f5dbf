"""Requests of the viewer, sent from the executor's thread."""

from collections.abc import Callable

from rclpy.node import Node

from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.viewer.clients import STALE_S, Request


class Requests:
    """Sends requests from the executor's thread; any thread may submit one.

    Attributes:
        latest: The latest request.
        image_age_s: Age of the displayed image [s]. Requests on an old one report it.
    """

    def __init__(self, node: Node) -> None:
        self.latest: Request | None = None
        self.image_age_s = 0.0
        self._node = node

    def submit(self, name: str, send: Callable[[Request], object]) -> Request:
        """Return a request that `send` completes; an exception of `send` fails it."""
        if self.image_age_s > STALE_S:
            name = f"{name}, on an image {self.image_age_s:.1f} s old"
            self._node.get_logger().warning(name)
        request = self.latest = Request(name)

        def guarded_send() -> None:
            try:
                send(request)
            except Exception as error:
                request.complete(False, str(error) or repr(error))

        self.post(guarded_send)
        return request

    def post(self, call: Callable[[], object]) -> None:
        """Call a function in the executor's thread."""
        later(self._node, call)
