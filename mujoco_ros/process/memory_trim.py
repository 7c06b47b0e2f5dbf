"""Giving memory back that a long run has no more use for."""

import ctypes
import gc
import os
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_MUCH = 1_000_000
"""So many bytes more than after the last time are worth the milliseconds that it takes."""
_LIBRARY = ctypes.CDLL(None)


class MemoryTrimmer:
    """Tidies up between two messages, where Python and the C library would not or at a bad moment.

    Python's own collections could keep the GIL from the physics thread amid a trajectory of 100 000
    points; the C library keeps the pieces that models leave behind in its heaps.
    """

    def __init__(self) -> None:
        """Leave alone, from now on, what there is already: it lives as long as the process."""
        gc.freeze()
        gc.disable()
        # Of glibc; others have nothing like it.
        self._trim = getattr(_LIBRARY, "malloc_trim", lambda _pad: 0)
        self._resident = resident()

    def tidy(self) -> None:
        """Collect what refers to itself alone, and give back what is free, if that is much."""
        gc.collect()
        if resident() > self._resident + _MUCH:
            self._trim(0)
            self._resident = resident()


def resident() -> int:
    """Return the bytes of this process that are in memory (proc(5): statm)."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE
