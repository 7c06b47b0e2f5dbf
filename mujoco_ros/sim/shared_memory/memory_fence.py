"""Memory fences, which order reads and writes across processes."""

import platform
import threading
from collections.abc import Callable

_STRONGLY_ORDERED = frozenset({"x86_64", "AMD64", "i686"})
"""Processors that never reorder two stores or two loads (Intel SDM, volume 3, 9.2)."""


def fence() -> Callable[[], None] | None:
    """Return a memory fence for the calling thread.

    Returns:
        None on processors that need no fence, as a call costs some microseconds.
    """
    if platform.machine() in _STRONGLY_ORDERED:
        return None
    # Releasing a lock orders what was written before, acquiring it what is read after. No other
    # thread uses this lock, so it never blocks.
    lock = threading.Lock()
    lock.acquire()

    def order() -> None:
        lock.release()
        lock.acquire()

    return order


def no_fence() -> None:
    """Do nothing, on processors that need no fence."""
