"""Commands of `ros2` that do the same as a request or a message of the viewer."""

import shlex
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
import yaml
from rcl_interfaces.srv import SetParametersAtomically

from mujoco_ros.viewer.ros.requests import atomic_request
from mujoco_ros.wire.parameter_spec import plain

_LONGEST_LINE = 2**31 - 1
"""Commands have one line."""


def service_call(kind: Any, name: str, request: Any) -> str:
    """Return the command that calls a service.

    Args:
        kind: Type of the service.
        name: Its full name.
        request: The request; fields with their default value are left out.
    """
    package = kind.__module__.partition(".")[0]
    command = ["ros2", "service", "call", name, f"{package}/srv/{kind.__name__}"]
    if fields := _fields(request):
        command.append(_flow(fields))
    return shlex.join(command)


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

    Args:
        topic: Full name of the topic.
        message: The message; fields with their default value are left out.
        rate_hz: Rate for a receiver that needs a stream; None publishes once.
        latched: Whether subscribers that appear later receive it, too.
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
    """Return the fields of a message that differ from its defaults."""
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
        return [_plain(it) for it in value]
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
