"""Garbage collection and return of free memory at chosen moments."""

import ctypes
import gc
import os
from pathlib import Path

_PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
_MIN_GROWTH = 1_000_000
"""Growth since the last trim [bytes] that is worth the milliseconds of another one."""
_LIBC = ctypes.CDLL(None)


class MemoryTrimmer:
    """Collects garbage and returns free memory to the system between two messages.

    Python's automatic collections could hold the GIL, which the physics thread needs, amid a
    trajectory of 100 000 points. The C library does not return the fragments that old models leave.
    """

    def __init__(self) -> None:
        """Turn automatic collection off; exempt all present objects, which stay until the end."""
        gc.freeze()
        gc.disable()
        # glibc only; other C libraries have no such function.
        self._trim = getattr(_LIBC, "malloc_trim", lambda _pad: 0)
        self._resident = resident_bytes()

    def trim(self) -> None:
        """Collect reference cycles, and return free memory if much was allocated."""
        gc.collect()
        if resident_bytes() > self._resident + _MIN_GROWTH:
            self._trim(0)
            self._resident = resident_bytes()


def resident_bytes() -> int:
    """Return the resident memory of this process [bytes] (proc(5): statm)."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE_SIZE
