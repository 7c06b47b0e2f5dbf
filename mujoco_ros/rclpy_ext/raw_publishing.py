"""Addresses of the functions of rcl that publish serialized messages, for compiled code."""

import ctypes
from functools import cache

from rclpy.impl.implementation_singleton import rclpy_implementation


@cache
def publish_functions() -> tuple[int, int, int]:
    """Return the addresses of three functions, which rclpy's library is linked to.

    They are ``rcl_publish_serialized_message``, ``rcutils_get_error_string`` and
    ``rcutils_reset_error``.
    """
    library = ctypes.CDLL(rclpy_implementation.__file__)
    publish, text, reset = (
        ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
        for name in (
            "rcl_publish_serialized_message",
            "rcutils_get_error_string",
            "rcutils_reset_error",
        )
    )
    return publish, text, reset
