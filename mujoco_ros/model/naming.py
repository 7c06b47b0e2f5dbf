"""Names: which ROS can use, and some for what brings none, or one that is taken."""

import re
from collections.abc import Container

from mujoco_ros.model.errors import NameInvalidError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}\Z")
"""What ROS can use for one part of a name."""
_LONGEST = 50


def check_name(name: str) -> None:
    """Refuse a name that cannot be part of topics and TF frames.

    Raises:
        NameInvalidError: The name has spaces, slashes or other characters ROS names do not allow.
    """
    if not NAME.match(name):
        raise NameInvalidError(
            f"name {name!r} is not valid: a letter, then letters, digits or underscores "
            "(64 characters at most; it becomes part of ROS names and TF frames)"
        )


def as_name(text: str) -> str:
    """Return what of `text` a robot or object can be called; empty if nothing."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")[:_LONGEST]
    return name if not name or name[0].isalpha() else f"model_{name}"[:_LONGEST]


def free_name(wanted: str, taken: Container[str]) -> str:
    """Return `wanted`, or if that is taken the first of wanted_1, wanted_2, … that is not."""
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted[:_LONGEST]}_{number}"
    return name


def topic_token(name: str) -> str:
    """Return `name` as one token of a topic name: other characters become underscores."""
    token = re.sub(r"\W", "_", name, flags=re.ASCII)
    return token if token[:1].isalpha() or token[:1] == "_" else f"_{token}"
