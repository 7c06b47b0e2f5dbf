"""Requests of the viewer, sent from the executor's thread."""

from collections.abc import Callable, Mapping
from typing import Any

from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import STALE_S, Request
from mujoco_ros.wire.parameter_spec import plain


class Requests:
    """Sends requests from the executor's thread; any thread may submit or report one.

    Attributes:
        latest: The latest request.
    """

    def __init__(self, node: Node) -> None:
        self.latest: Request | None = None
        self._image_age_s = 0.0
        self._has_warned = False  # of the present old image
        self._node = node

    def note_image_age(self, seconds: float) -> None:
        """Record the age of the main page's image [s]; requests of all pages report an old one."""
        self._image_age_s = seconds
        self._has_warned &= seconds > STALE_S

    def submit(self, name: str, send: Callable[[Request], object]) -> Request:
        """Return a request that `send` completes; an exception of `send` fails it.

        The first request on an old image is a warning; a drag makes many.
        """
        if self._is_old:
            name = self._with_age(name)
            if not self._has_warned:
                self._has_warned = True
                self._node.get_logger().warning(name)
        request = self.latest = Request(name)

        def guarded_send() -> None:
            try:
                send(request)
            except Exception as error:
                request.complete(False, str(error) or repr(error))

        self.post(guarded_send)
        return request

    def report(self, name: str) -> Request:
        """Return the request of messages that are published during one press, or alone.

        On an old image it is a warning.
        """
        if self._is_old:
            name = self._with_age(name)
            self._node.get_logger().warning(name)
        request = self.latest = Request(name, ok=True, message="published")
        return request

    @property
    def _is_old(self) -> bool:
        return self._image_age_s > STALE_S

    def _with_age(self, name: str) -> str:
        return f"{name}, on an image {self._image_age_s:.1f} s old"

    def post(self, call: Callable[[], object]) -> None:
        """Call a function in the executor's thread."""
        later(self._node, call)


def atomic_request(values: Mapping[str, Any]) -> SetParametersAtomically.Request:
    """Return the request that sets parameters by name."""
    parameters = [Parameter(name, value=plain(value)) for name, value in values.items()]
    messages = [parameter.to_parameter_msg() for parameter in parameters]
    return SetParametersAtomically.Request(parameters=messages)
