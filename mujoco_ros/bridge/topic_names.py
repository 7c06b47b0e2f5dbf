"""ROS names for elements of a model."""


def within(namespace: str, *names: str) -> str:
    """Return the name of what is in a namespace; what is empty is left out."""
    return "/".join(part for part in (namespace, *names) if part)
