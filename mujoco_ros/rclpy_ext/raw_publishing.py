"""Functions of rcl that publish serialized messages, for compiled code and for large messages."""

import ctypes
from functools import cache
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation


@cache
def publish_functions() -> tuple[int, int, int] | None:
    """Return the addresses of three functions, which rclpy's library is linked to.

    They are ``rcl_publish_serialized_message``, ``rcutils_get_error_string`` and
    ``rcutils_reset_error``; None if they are not found, as in another build of rclpy.
    """
    names = "rcl_publish_serialized_message", "rcutils_get_error_string", "rcutils_reset_error"
    try:
        library = ctypes.CDLL(rclpy_implementation.__file__)
        publish, text, reset = (
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in names
        )
    except (AttributeError, OSError):
        return None
    return publish, text, reset


class _SerializedMessage(ctypes.Structure):
    """rcutils_uint8_array_t."""

    _fields_ = (
        ("buffer", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
        ("capacity", ctypes.c_size_t),
        ("allocator", ctypes.c_void_p * 5),
    )


_Publish = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_SerializedMessage), ctypes.c_void_p
)


def publish_unlocked(handle: Any, message: bytes) -> None:
    """Publish a serialized message by a publisher's handle, which its caller keeps in use.

    Unlike ``handle.publish_raw``, it does not hold the interpreter's lock: a point cloud of 5 MB
    takes milliseconds. `RCLError` if the middleware rejects the message.
    """
    functions = publish_functions()
    if functions is None:
        handle.publish_raw(message)
        return
    publish, _, reset = functions
    serialized = _SerializedMessage(message, len(message), len(message))
    if _Publish(publish)(handle.pointer, ctypes.byref(serialized), None):
        ctypes.CFUNCTYPE(None)(reset)()
        raise rclpy_implementation.RCLError("the middleware rejects the message")
