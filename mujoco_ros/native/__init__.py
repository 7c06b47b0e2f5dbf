"""Compiled parts of a step. Each has a counterpart in Python, which runs where none was compiled.

The environment variable ``MUJOCO_ROS_NATIVE=0`` selects the counterparts.
"""

import ctypes
import os
from enum import IntEnum
from functools import cache
from importlib.util import find_spec

_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64
_FUNCTIONS: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "fill_messages": (ctypes.c_int, (_POINTER, _NUMBER)),
    "publish_messages": (ctypes.c_int, (_POINTER, _NUMBER, ctypes.c_int)),
    "last_rejection": (ctypes.c_char_p, ()),
    "take_steps": (ctypes.c_int, (_POINTER, _NUMBER, ctypes.c_int)),
    "run_steps": (ctypes.c_int, (_POINTER, _NUMBER, ctypes.c_int, _POINTER)),
    "finish_step": (ctypes.c_int, (_POINTER,)),
}
"""Types of the results and of the arguments, as in the C files."""


class Sending(IntEnum):
    """How compiled messages are sent: at once, or in their turn by a thread of their own."""

    AT_ONCE = 0
    WAITING = 1  # until there is room for them
    IN_TIME = 2  # one for which there is no room is lost


def library() -> ctypes.CDLL | None:
    """Return the compiled functions; None where there are none, or they are not wanted.

    They run without the interpreter's lock.
    """
    return None if os.environ.get("MUJOCO_ROS_NATIVE") == "0" else _library()


@cache
def _library() -> ctypes.CDLL | None:
    spec = find_spec(f"{__name__}.compiled")
    if spec is None or spec.origin is None:  # no C compiler when the package was installed
        return None
    return load(spec.origin)


def load(path: str) -> ctypes.CDLL:
    """Load compiled functions from a file."""
    compiled = ctypes.CDLL(path)
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(compiled, name, None)
        if function is not None:  # without the headers of the engine, there are no steps
            function.restype, function.argtypes = result, arguments
    return compiled


def steps_library(engine_version: int) -> ctypes.CDLL | None:
    """Return the compiled steps; None as for `library`, or for another engine.

    `engine_version` is ``mj_version()``; the layout of the engine's structures depends on it.
    """
    compiled = library()
    if compiled is None:
        return None
    compiled_for = ctypes.c_int.in_dll(compiled, "ENGINE_VERSION").value
    return compiled if compiled_for == engine_version else None


def flush() -> None:
    """Wait until the middleware has all messages that compiled code has sent."""
    compiled = library()
    if compiled is not None:
        compiled.flush_sender()


def last_rejection() -> str:
    """Return why the middleware rejected a message of compiled code the last time."""
    compiled = library()
    return "" if compiled is None else compiled.last_rejection().decode(errors="replace")


def why_in_python(engine_version: int) -> str:
    """Return why there is no `steps_library`; empty if there is one."""
    if steps_library(engine_version) is not None:
        return ""
    if os.environ.get("MUJOCO_ROS_NATIVE") == "0":
        return "MUJOCO_ROS_NATIVE is 0"
    if library() is None:
        return "the package was installed without a C compiler"
    return "the package was compiled for another version of MuJoCo; install it again"
