"""Names in ROS and in the headers of files: checks, conversion, unique names, frames."""

import re
from collections.abc import Container
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from io import StringIO
from itertools import chain, count, dropwhile, takewhile
from xml.etree import ElementTree

from mujoco_ros.model.errors import NameInvalidError

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}\Z")
"""One token of a ROS name."""
_MAX_LENGTH = 50


def check_name(name: str) -> None:
    """Reject a name with characters that topics and TF frames do not allow."""
    if not NAME.match(name):
        raise NameInvalidError(
            f"name {name!r} is not valid: a letter, then letters, digits or underscores "
            "(64 characters at most; it becomes part of ROS names and TF frames)"
        )


def to_name(text: str) -> str:
    """Convert a text to a valid name; empty if it has no valid character."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")[:_MAX_LENGTH]
    return name if not name or name[0].isalpha() else f"model_{name}"[:_MAX_LENGTH]


def unique_name(name: str, taken: Container[str]) -> str:
    """Return a name; if it is taken, the first free one of name_1, name_2, …"""
    numbered = (f"{name[:_MAX_LENGTH]}_{number}" for number in count(1))
    return next(candidate for candidate in chain([name], numbered) if candidate not in taken)


def numbered_name(name: str, taken: Container[str]) -> str:
    """Return a name; if it is taken, the first free one of name_2, name_3, …"""
    numbered = (f"{name}_{number}" for number in count(2))
    return next(candidate for candidate in chain([name], numbered) if candidate not in taken)


def matches(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern of the shell, or is it: it may have brackets."""
    return name == pattern or fnmatchcase(name, pattern)


@lru_cache(maxsize=4096)  # controllers ask for the same names at each tick
def topic_token(name: str) -> str:
    """Convert a name to one token of a topic name; underscores replace invalid characters."""
    token = re.sub(r"\W", "_", name, flags=re.ASCII)
    return token if token[:1].isalpha() or token[:1] == "_" else f"_{token}"


def in_namespace(namespace: str, *names: str) -> str:
    """Return a name in a namespace; empty parts are omitted."""
    return "/".join(part for part in (namespace, *names) if part)


def joint_name(namespace: str, name: str) -> str:
    """Return the name of a joint of a robot with its namespace, as in the names of parameters."""
    return f"{namespace.replace('/', '.')}.{name}" if namespace else name


OPTICAL_WXYZ = (0.0, 1.0, 0.0, 0.0)
"""Optical frame (z forward, y down) in the frame of a MuJoCo camera (-z forward, y up)."""
CAMERA_WXYZ = (0.5, 0.5, -0.5, -0.5)
"""MuJoCo camera in the frame of a camera link (REP-103: x forward, z up)."""


def site_frame(site: str, bodies: Container[str]) -> str:
    """Return the frame of a site: its name, with a suffix if a body has the name."""
    return f"{site}_site" if site in bodies else site


def optical_frame(camera: str) -> str:
    """Return the optical frame of a camera (REP-103)."""
    return f"{camera}_optical_frame"


HEADER_CHARACTERS = 1 << 16
"""Length of the part of a file in which its header is."""

_SENTENCE = re.compile(r".*?\.(?=\s|$)", re.DOTALL)


def root_element(text: str) -> tuple[str, str]:
    """Return tag and name of the first element of an XML text; empty strings if missing."""
    with suppress(ElementTree.ParseError, ValueError):
        _, root = next(ElementTree.iterparse(StringIO(text[:HEADER_CHARACTERS]), events=("start",)))
        return root.tag, to_name(root.get("model" if root.tag == "mujoco" else "name", ""))
    return "", ""


def header_comment(text: str) -> str:
    """Return the first sentence of the first comment in an XML or YAML text; empty if none."""
    begin = text[:HEADER_CHARACTERS]
    if begin.lstrip().startswith("<"):
        comment, end, _ = begin.partition("<!--")[2].partition("-->")
        comment = comment if end else ""
    else:
        lines = [line.strip() for line in begin.splitlines()]
        comments = dropwhile(lambda line: not line.startswith("#"), lines)
        comment = " ".join(takewhile(lambda line: not line or line.startswith("#"), comments))
    words = " ".join(comment.replace("#", " ").split())
    sentence = _SENTENCE.match(words)
    return sentence.group() if sentence else words
