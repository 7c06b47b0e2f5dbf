"""Free ROS domains for benchmarks and tests that run next to other ROS processes."""

import fcntl
import os
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from mujoco_ros.process.memory import SHARED_MEMORY, remove_unfinished_ports

_DOMAINS = range(1, 102)
"""Without the default domain; above 101, ports reach into Linux' ephemeral range.

https://docs.ros.org/en/jazzy/Concepts/Intermediate/About-Domain-ID.html
"""
_FIRST_PORT, _PORTS_PER_DOMAIN = 7400, 250
"""PB and DG of DDSI-RTPS 2.5, 9.6.2.3: all participants of a domain bind ports of its block."""


# A participant maps a file at once after it created the file.
_MAPPED_S = 60.0


class Domain:
    """A ROS domain without other participants on this machine, reserved until it is closed.

    Attributes:
        id: Its number.
    """

    def __init__(self, first: int | None = None) -> None:
        """Reserve a free domain, the `first` one if it is free.

        Raises:
            RuntimeError: No domain is free.
        """
        remove_unfinished_ports()
        remove_unused_memory()
        # Processes that start at different domains rarely compete for one.
        start = os.getpid() if first is None else first - _DOMAINS.start
        for offset in range(len(_DOMAINS)):
            self.id = _DOMAINS[(start + offset) % len(_DOMAINS)]
            path = Path(tempfile.gettempdir(), f"ros_domain_{self.id}.lock")
            try:
                self._lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
            except PermissionError:  # the file of another user
                continue
            try:
                # Processes of this project lock a domain before their first participant exists.
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self.id not in used_domains():
                    return
            except BlockingIOError:
                pass
            os.close(self._lock)
        raise RuntimeError("every ROS domain is in use")

    def close(self) -> None:
        """Release the domain."""
        os.close(self._lock)


@cache
def remove_unused_memory() -> None:
    """Remove the shared memory that killed participants left, once per process.

    A day of tests and benchmarks leaves a thousand files, which new participants open and check.
    """
    mapped = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):  # it ended meanwhile, or another user's
            lines = maps.read_text().splitlines()
            mapped |= {line.split(maxsplit=5)[-1] for line in lines if SHARED_MEMORY.name in line}
    recent = time.time() - _MAPPED_S
    for path in SHARED_MEMORY.glob("*fast*_*"):
        port = path.name.removeprefix("sem.").split("_mutex")[0].removesuffix("_el")
        with suppress(OSError):  # removed meanwhile, or of another user
            if str(path.with_name(port)) not in mapped and path.stat().st_mtime < recent:
                path.unlink()


def used_domains() -> set[int]:
    """Return the ROS domains of all participants on this machine, by the UDP ports they bind."""
    blocks = ((port - _FIRST_PORT) // _PORTS_PER_DOMAIN for port in _udp_ports())
    return {block for block in blocks if 0 <= block <= _DOMAINS[-1]}


def _udp_ports() -> set[int]:
    """Return all bound UDP ports (proc(5): the second field is the local address, hex:port)."""
    tables = (Path("/proc/net", name) for name in ("udp", "udp6"))
    lines = [line for t in tables if t.exists() for line in t.read_text().splitlines()[1:]]
    return {int(line.split()[1].rpartition(":")[2], 16) for line in lines}
