"""Memory of a long run: free memory returns to the system, and memory of Fast DDS is protected."""

import ctypes
import gc
import logging
import os
import re
import struct
import time
from contextlib import suppress
from pathlib import Path

from mujoco_ros.process.limits import used_memory

_LOGGER = logging.getLogger(__name__)
_MIN_GROWTH = 1_000_000
"""Growth since the last trim [bytes] that is worth the milliseconds of another one."""
_LIBC = ctypes.CDLL(None)

SHARED_MEMORY = Path("/dev/shm")

# The files of Fast DDS 2 and 3; those with further endings are its locks.
_PORT = re.compile(r"(?:fastrtps|fastdds)_port\d+")
_PREFIXES = ("fastrtps_", "fastdds_")
# A living process needs microseconds.
_CREATION_S = 2.0
# First word of a managed segment of Boost.Interprocess, in which Fast DDS keeps a port.
_INITIALIZED = 2


class MemoryTrimmer:
    """Collects garbage and returns free memory to the system between two messages.

    Python's automatic collections could hold the GIL, which the physics thread needs, amid a
    trajectory of 100 000 points. The C library does not return the fragments that old models leave.
    """

    def __init__(self) -> None:
        gc.freeze()  # the present objects stay until the end
        gc.disable()
        # glibc only; other C libraries have no such function.
        self._trim = getattr(_LIBC, "malloc_trim", lambda _pad: 0)
        self._resident = 0

    def trim(self) -> None:
        """Collect reference cycles, and return free memory if much was allocated."""
        gc.collect()
        if used_memory(os.getpid()) > self._resident + _MIN_GROWTH:
            self._trim(0)
            self._resident = used_memory(os.getpid())


_MADV_DONTNEED = 4


def release_file_pages() -> None:
    """Unmap the pages of programs that this process has not changed; the next access maps them.

    Linking and compiling touch most of LLVM, 57 MB, and rendering hardly any of it.
    """
    span: tuple[int, int] | None = None
    with Path("/proc/self/smaps").open(encoding="utf-8") as lines:
        for line in lines:
            first, *rest = line.split()
            if not first.endswith(":"):
                begin, end = (int(address, 16) for address in first.split("-"))
                is_constant = rest[0] in ("r-xp", "r--p") and rest[-1].startswith("/")
                span = (begin, end - begin) if is_constant else None
            elif first in ("Anonymous:", "Swap:") and rest[0] != "0":
                span = None  # relocated addresses: they are in no file
            elif first == "VmFlags:" and span is not None:
                address, size = ctypes.c_void_p(span[0]), ctypes.c_size_t(span[1])
                _LIBC.madvise(address, size, _MADV_DONTNEED)


def remove_unfinished_ports(folder: Path = SHARED_MEMORY) -> list[str]:
    """Remove ports that a killed process began to create: later participants would wait."""
    removed = []
    for path in sorted(folder.glob("*_port*")):
        with suppress(OSError):  # removed by another process, or of another user
            if _PORT.fullmatch(path.name) and _is_unfinished(path):
                path.unlink()
                removed.append(path.name)
    if removed:
        names = ", ".join(removed)
        _LOGGER.warning("removed shared memory that a killed process left unfinished: %s", names)
    return removed


def restrict_shared_memory() -> list[Path]:
    """Make Fast DDS's files of this process, readable by all, private; return them."""
    with Path("/proc/self/maps").open() as maps:
        paths = {Path(line.split(maxsplit=5)[-1].strip()) for line in maps if "/dev/shm/" in line}
    restricted = []
    for path in sorted(paths):
        if path.name.startswith(_PREFIXES):
            with suppress(OSError):  # removed meanwhile, or of another user
                path.chmod(0o600)
                restricted.append(path)
    return restricted


def _is_unfinished(path: Path) -> bool:
    if time.time() - path.stat().st_mtime < _CREATION_S:
        return False
    with path.open("rb") as file:
        word = file.read(4)
    return len(word) < 4 or struct.unpack("=I", word)[0] < _INITIALIZED
