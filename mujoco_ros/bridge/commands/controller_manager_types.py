"""Whether the types of controller_manager's services are installed; they are optional."""

from importlib.util import find_spec

PACKAGE = "controller_manager_msgs"
"""Its package. Modules that import it are imported only if it is installed."""


def is_installed() -> bool:
    """Return whether the package is installed."""
    return find_spec(PACKAGE) is not None
