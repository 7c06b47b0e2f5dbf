"""Names and fields of simulation_interfaces."""

import re
from typing import Any

_WORD = re.compile(r"(?<=.)(?=[A-Z])")


def service_name(interface: str) -> str:
    """Return the name of a service by its type, such as ``get_entities``."""
    return _WORD.sub("_", interface).lower()


def write_resource(message: Any, field: str, uri: str, text: str = "") -> None:
    """Write the URI and text of a resource into a message.

    Args:
        message: A request or a response; older versions contain the URI and the text themselves.
        field: The field that contains them in newer versions.
        uri: The URI.
        text: The text.
    """
    resource = getattr(message, field, message)
    resource.uri = uri
    if hasattr(resource, "resource_string"):
        resource.resource_string = text
