"""ROS names for elements of a model."""


def within(namespace: str, *names: str) -> str:
    """Return a name in a namespace; empty parts are omitted."""
    return "/".join(part for part in (namespace, *names) if part)
