"""What of the simulator's ROS arguments its companions are given."""

from collections.abc import Iterator, Sequence

_WITH_VALUE = {
    **dict.fromkeys(("-r", "--remap"), "remap"),
    **dict.fromkeys(("-p", "--param"), "param"),
    **dict.fromkeys(
        ("--params-file", "-e", "--enclave", "--log-level", "--log-config-file", "--log-file-name"),
        "other",
    ),
}

_OWN = ("__node", "__name", "__ns")
"""What is remapped of a node itself, not of its topics."""
_NOT_THEIRS = ("", "mujoco")
"""Whose name and namespace are not theirs: everybody's, and the simulator's."""


def handed_on(arguments: Sequence[str], namespace: str) -> list[str]:
    """Return the arguments for a companion: remappings of topics, logging, files of parameters.

    The name of the simulator's node is its own, and so are parameters given for whatever node. What
    names a companion's node is that companion's: ``-r mujoco_cameras:__node:=eyes``.

    Args:
        arguments: Those of the simulator, all of them.
        namespace: That of its node.
    """
    kept = ["--ros-args"]
    for argument in _ros(arguments):
        kind = _WITH_VALUE.get(argument[0], "other")
        name = argument[-1].partition(":=")[0]
        node, _, what = name.rpartition(":")
        if kind == "remap" and what in _OWN and node in _NOT_THEIRS:
            continue
        if kind == "param" and ":" not in name:
            continue
        kept += argument
    # Last, as the first rule that fits a node is taken.
    return [*kept, "-r", f"__ns:={namespace}"]


def _ros(arguments: Sequence[str]) -> Iterator[list[str]]:
    """Yield arguments for ROS, each with its value."""
    rest, ros = iter(arguments), False
    for argument in rest:
        if argument in ("--ros-args", "--"):
            ros = argument == "--ros-args"
        elif ros:
            value = next(rest, None) if argument in _WITH_VALUE else None
            yield [argument] if value is None else [argument, value]
