"""The order in which other processes see what is written."""

import platform
import threading
from collections.abc import Callable

_KEEPING_ORDER = frozenset({"x86_64", "AMD64", "i686"})
"""Processors that let others see what is written in the order in which it is written."""


def fence() -> Callable[[], None] | None:
    """Return what keeps the order of all that is read and written before and after it.

    For one thread.

    Returns:
        None where nothing needs to be done, as doing it would cost some microseconds.
    """
    if platform.machine() in _KEEPING_ORDER:
        return None
    # Letting go of a lock and taking it again keeps the order. Nobody else knows this lock, and so
    # nobody ever waits for it.
    lock = threading.Lock()
    lock.acquire()

    def keep_order() -> None:
        lock.release()
        lock.acquire()

    return keep_order


def nothing() -> None:
    """Keep no order, where the processor does."""
