"""ROS arguments of a simulator: what its child processes get, and values before it has a node."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import parse_yaml, read_yaml

_WITH_VALUE = {
    **dict.fromkeys(("-r", "--remap"), "remap"),
    **dict.fromkeys(("-p", "--param"), "param"),
    **dict.fromkeys(
        ("--params-file", "-e", "--enclave", "--log-level", "--log-config-file", "--log-file-name"),
        "other",
    ),
}

_NODE_RULES = ("__node", "__name", "__ns")  # remappings of a node itself, not of its topics
_SIMULATOR = ("", "mujoco")
"""Nodes whose name and namespace are not passed on: any node, and the simulator."""


def child_ros_arguments(arguments: Sequence[str], namespace: str) -> list[str]:
    """Return the remappings of topics, the logging options and the parameter files for a child.

    The name of the simulator's node and parameters without a node are not passed on. A rule with
    its name renames a child's node: ``-r mujoco_viewer:__node:=my_viewer``.
    """
    passed = ["--ros-args"]
    for argument in _ros_arguments(arguments):
        kind = _WITH_VALUE.get(argument[0], "other")
        name = argument[-1].partition(":=")[0]
        node, _, rule = name.rpartition(":")
        if kind == "remap" and rule in _NODE_RULES and node in _SIMULATOR:
            continue
        if kind == "param" and ":" not in name:
            continue
        passed += argument
    # Last, as the first rule that matches a node wins.
    return [*passed, "-r", f"__ns:={namespace}"]


def names_node(arguments: Sequence[str], name: str) -> bool:
    """Whether the arguments have a parameter or a remapping of the node with a name."""
    for argument in _ros_arguments(arguments):
        if argument[0] == "--params-file":
            with suppress(UserInputError):
                content = read_yaml(Path(argument[-1]))
                if any(name in str(key).split("/") for key in _nodes(content)):
                    return True
        elif argument[-1].partition(":=")[0].startswith(f"{name}:"):
            return True
    return False


def _nodes(content: Any) -> Iterator[str]:
    """Yield the namespaces and nodes in the content of a parameter file."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key != "ros__parameters":
                yield key
                yield from _nodes(value)


def parameter_files(arguments: Sequence[str]) -> list[Path]:
    """Return the parameter files in the arguments."""
    return [Path(a[-1]) for a in _ros_arguments(arguments) if a[0] == "--params-file"]


def remap_rules(arguments: Sequence[str]) -> list[str]:
    """Return the remappings in the arguments, as ``from:=to``."""
    return [a[-1] for a in _ros_arguments(arguments) if _WITH_VALUE.get(a[0]) == "remap"]


def given_value(arguments: Sequence[str], name: str) -> Any:
    """Return the value that the arguments give to a parameter of any node; None without one.

    It is for what the middleware must know before there is a node. The last value counts; files
    that cannot be read are skipped, since ROS reports them.
    """
    found = None
    for argument in _ros_arguments(arguments):
        kind, value = _WITH_VALUE.get(argument[0]), argument[-1]
        if kind == "param":
            key, _, text = value.partition(":=")
            if key.rpartition(":")[2] == name:
                with suppress(UserInputError):
                    found = parse_yaml(text, name)
        elif argument[0] == "--params-file":
            with suppress(UserInputError):
                for parameters in _sections(read_yaml(Path(value))):
                    found = parameters.get(name, found)
    return found


def _sections(content: Any) -> Iterator[dict[str, Any]]:
    """Yield the parameters of each node in the content of a parameter file."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key != "ros__parameters":
                yield from _sections(value)
            elif isinstance(value, dict):
                yield value


def _ros_arguments(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Yield each ROS argument with its value."""
    rest, ros = iter(arguments), False
    for argument in rest:
        if argument in ("--ros-args", "--"):
            ros = argument == "--ros-args"
        elif ros:
            value = next(rest, None) if argument in _WITH_VALUE else None
            yield [argument] if value is None else [argument, value]
