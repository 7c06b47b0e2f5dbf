"""Addresses of the functions of rcl that publish serialized messages, for compiled code."""

import ctypes
from functools import cache

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
