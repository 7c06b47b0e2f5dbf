"""Compiled parts of a step. Each has a counterpart in Python, which runs where none was compiled.

The environment variable ``MUJOCO_ROS_NATIVE=0`` selects the counterparts.
"""

import ctypes
import os
import sys
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mujoco_ros.native.compiled import Messages, Steps


class Sending(IntEnum):
    """How compiled messages are sent: at once, or in their turn by a thread of their own."""

    AT_ONCE = 0
    WAITING = 1  # until there is room for them
    IN_TIME = 2  # one for which there is no room is lost


def messages_type() -> "type[Messages] | None":
    """Return the compiled class of messages; None where there is none, or it is not wanted."""
    if os.environ.get("MUJOCO_ROS_NATIVE") == "0":
        return None
    try:
        from mujoco_ros.native.compiled import Messages
    except ImportError:  # no C compiler when the package was installed
        return None
    return Messages


def steps_type(engine_version: int) -> "type[Steps] | None":
    """Return the compiled class of steps; None as for `messages_type`, or for another engine.

    `engine_version` is ``mj_version()``; the layout of the engine's structures depends on it.
    """
    if messages_type() is None:
        return None
    from mujoco_ros.native import compiled

    return compiled.Steps if engine_version == compiled.ENGINE_VERSION else None


def flush() -> None:
    """Wait until the middleware has all messages that compiled code has sent."""
    compiled = sys.modules.get(f"{__name__}.compiled")
    if compiled is not None:
        compiled.flush()


def last_rejection() -> str:
    """Return why the middleware rejected a message of compiled code the last time."""
    from mujoco_ros.native import compiled

    return compiled.reason()


def why_in_python(engine_version: int) -> str:
    """Return why `steps_type` has no steps; empty if it has some."""
    if steps_type(engine_version) is not None:
        return ""
    if os.environ.get("MUJOCO_ROS_NATIVE") == "0":
        return "MUJOCO_ROS_NATIVE is 0"
    if messages_type() is None:
        return "the package was installed without a C compiler"
    return "the package was compiled for another version of MuJoCo; install it again"


def library() -> ctypes.CDLL | None:
    """Return the compiled functions of ``callbacks.c``; None as for `messages_type`."""
    if messages_type() is None:
        return None
    from mujoco_ros.native import compiled

    return ctypes.CDLL(compiled.__file__)
