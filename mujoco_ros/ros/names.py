"""ROS names for elements of a model."""

import re

_INVALID = re.compile(r"[^A-Za-z0-9_]")


def topic_token(name: str) -> str:
    """Return `name` as one token of a topic name: other characters become underscores."""
    token = _INVALID.sub("_", name)
    return token if token[:1].isalpha() or token[:1] == "_" else f"_{token}"


def within(namespace: str, *names: str) -> str:
    """Return the name of what is in a namespace; what is empty is left out."""
    return "/".join(part for part in (namespace, *names) if part)
