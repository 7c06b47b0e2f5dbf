"""Shared memory ports that a killed process left unfinished, for which Fast DDS waits forever."""

import logging
import re
import struct
import time
from contextlib import suppress
from pathlib import Path

_LOGGER = logging.getLogger(__name__)

SHARED_MEMORY = Path("/dev/shm")

# The files of Fast DDS 2 and 3; those with further endings are its locks.
_PORT = re.compile(r"(?:fastrtps|fastdds)_port\d+")
# A living process needs microseconds.
_CREATION_S = 2.0
# First word of a managed segment of Boost.Interprocess, in which Fast DDS keeps a port.
_INITIALIZED = 2


def remove_unfinished_ports(folder: Path = SHARED_MEMORY) -> list[str]:
    """Remove ports that a killed process began to create; return their names.

    A process that is killed between the creation of a port and its initialization leaves a file for
    whose initialization each later participant of the domain would wait without end.
    """
    removed = []
    for path in folder.glob("*_port*"):
        with suppress(OSError):  # removed by another process, or of another user
            if _PORT.fullmatch(path.name) and _is_unfinished(path):
                path.unlink()
                removed.append(path.name)
    if removed:
        names = ", ".join(sorted(removed))
        _LOGGER.warning("removed shared memory that a killed process left unfinished: %s", names)
    return removed


def _is_unfinished(path: Path) -> bool:
    if time.time() - path.stat().st_mtime < _CREATION_S:
        return False
    with path.open("rb") as file:
        word = file.read(4)
    return len(word) < 4 or struct.unpack("=I", word)[0] < _INITIALIZED
