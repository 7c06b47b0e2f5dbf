"""ROS arguments that a simulator passes to its child processes."""

from collections.abc import Iterator, Sequence

_WITH_VALUE = {
    **dict.fromkeys(("-r", "--remap"), "remap"),
    **dict.fromkeys(("-p", "--param"), "param"),
    **dict.fromkeys(
        ("--params-file", "-e", "--enclave", "--log-level", "--log-config-file", "--log-file-name"),
        "other",
    ),
}

_NODE_RULES = ("__node", "__name", "__ns")
"""Remappings of a node itself, not of its topics."""
_SIMULATOR = ("", "mujoco")
"""Nodes whose name and namespace are not passed on: any node, and the simulator."""


def child_ros_arguments(arguments: Sequence[str], namespace: str) -> list[str]:
    """Return the remappings of topics, the logging options and the parameter files for a child.

    The name of the simulator's node and parameters without a node are not passed on. A rule with
    its name renames a child's node: ``-r mujoco_cameras:__node:=my_cameras``.

    Args:
        arguments: All arguments of the simulator.
        namespace: The namespace of its node.
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


def _ros_arguments(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Yield each ROS argument with its value."""
    rest, ros = iter(arguments), False
    for argument in rest:
        if argument in ("--ros-args", "--"):
            ros = argument == "--ros-args"
        elif ros:
            value = next(rest, None) if argument in _WITH_VALUE else None
            yield [argument] if value is None else [argument, value]
