"""Requests of the viewer, and the commands of `ros2` that do the same."""

import shlex
from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import yaml
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import STALE_S, Request
from mujoco_ros.wire.parameter_spec import plain


class Requests:
    """Sends requests from the executor's thread; any thread may submit or report one."""

    def __init__(self, node: Node) -> None:
        self.latest: Request | None = None  # the latest request
        self._image_age_s = 0.0
        self._has_warned = False  # of the present old image
        self._node = node

    def note_image_age(self, seconds: float) -> None:
        """Record the age of the page with control [s]; requests report an old one."""
        self._image_age_s = seconds
        self._has_warned &= seconds > STALE_S

    def submit(self, name: str, send: Callable[[Request], object]) -> Request:
        """Return a request that `send` completes; the first one on an old image is a warning."""
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
        """Return the request of messages of one press; on an old image it is a warning."""
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


_LONGEST_ARGUMENT = 1 << 17  # of a program in Linux [bytes]
_LONGEST_LINE = 2**31 - 1  # commands have one line


def service_call(kind: Any, name: str, request: Any) -> str:
    """Return the command that calls a service; fields of default value are left out.

    It is empty if it would be too long for a shell.
    """
    package = kind.__module__.partition(".")[0]
    command = ["ros2", "service", "call", name, f"{package}/srv/{kind.__name__}"]
    if fields := _fields(request):
        command.append(_flow(fields))
    return shlex.join(command) if len(command[-1]) < _LONGEST_ARGUMENT else ""


def parameter_set(node: str, values: Mapping[str, Any]) -> str:
    """Return the command that sets parameters of a node, by their names, atomically."""
    if len(values) == 1:
        ((name, value),) = values.items()
        return shlex.join(["ros2", "param", "set", node, name, _flow(plain(value))])
    service = f"{node}/set_parameters_atomically"
    return service_call(SetParametersAtomically, service, atomic_request(values))


def topic_pub(
    topic: str, message: Any, *, rate_hz: float | None = None, latched: bool = False
) -> str:
    """Return the command that publishes a message, without its time stamp, which is of the past.

    Fields with their default value are left out. A rate is for a receiver that needs a stream; a
    latched message is received by later subscribers, too.
    """
    package = type(message).__module__.partition(".")[0]
    command = ["ros2", "topic", "pub"]
    command += ["--once"] if rate_hz is None else ["--rate", f"{rate_hz:g}"]
    if latched:
        command += ["--qos-durability", "transient_local"]
    command += [topic, f"{package}/msg/{type(message).__name__}"]
    fields = _fields(message)
    header = fields.pop("header", {})
    header.pop("stamp", None)
    if header:
        fields = {"header": header, **fields}
    if fields:
        command.append(_flow(fields))
    return shlex.join(command)


def _fields(message: Any) -> dict[str, Any]:
    default = type(message)()
    found = {}
    for name in message.get_fields_and_field_types():
        value = getattr(message, name)
        plain = _plain(value)
        if plain != _plain(getattr(default, name)):
            found[name] = plain
    return found


def _plain(value: Any) -> Any:
    if hasattr(value, "get_fields_and_field_types"):
        return _fields(value)
    if isinstance(value, np.ndarray | array):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(element) for element in value]
    return value


def _flow(value: Any) -> str:
    # In C: the message of a drag changes in every frame.
    text = yaml.dump(
        value,
        Dumper=yaml.CSafeDumper,
        default_flow_style=True,
        width=_LONGEST_LINE,
        sort_keys=False,
    )
    return str(text).removesuffix("\n...\n").strip()
