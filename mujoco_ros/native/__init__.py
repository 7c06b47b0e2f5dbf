"""Compiled parts of a step. Each has a counterpart in Python, which runs where none was compiled.

The environment variable ``MUJOCO_ROS_NATIVE=0`` selects the counterparts.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mujoco_ros.native import messages


def messages_type() -> "type[messages.Messages] | None":
    """Return the compiled class of messages; None where there is none, or it is not wanted."""
    if os.environ.get("MUJOCO_ROS_NATIVE") == "0":
        return None
    try:
        from mujoco_ros.native import messages
    except ImportError:  # no C compiler when the package was installed
        return None
    return messages.Messages
