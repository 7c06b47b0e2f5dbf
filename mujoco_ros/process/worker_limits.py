"""Limits of the requests to a worker process."""

import math
import os
import resource
import subprocess
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from mujoco_ros.process.fork_server import ForkedProcess

_PERIOD_S = 0.05
_GIB = 1 << 30
_ADDRESSES_PER_BYTE = 8
"""Programs reserve more addresses than they use memory."""
_EXPENDABLE = b"1000"
_PROCESSOR_TIME_EXCEEDED = "SIGXCPU"


class WorkerDiedError(RuntimeError):
    """The worker process ended before it answered."""


class WorkerLimitError(WorkerDiedError):
    """The worker process was ended because it exceeded a limit; the message states the limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerLimits:
    """Limits of one request.

    Attributes:
        processor_s: Processor time of all threads [s].
        wall_s: Time until the answer [s].
        memory_bytes: Memory in use [byte].
    """

    processor_s: float
    wall_s: float
    memory_bytes: int

    def apply(self) -> None:
        """Limit this process for the next request; it must not be called in the parent."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        end = math.ceil(used.ru_utime + used.ru_stime + self.processor_s)
        addresses = self.memory_bytes * _ADDRESSES_PER_BYTE
        for kind, limit in (
            (resource.RLIMIT_CPU, end),
            (resource.RLIMIT_AS, addresses),
            (resource.RLIMIT_CORE, 0),  # a crash writes no file
        ):
            _, hard = resource.getrlimit(kind)
            lowered = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (lowered, hard))
        # If memory runs out, the kernel ends this process rather than its parent.
        Path("/proc/self/oom_score_adj").write_bytes(_EXPENDABLE)


class LimitWatch:
    """Ends a process that exceeds a limit while a request is in progress."""

    def __init__(
        self, process: "subprocess.Popen[bytes] | ForkedProcess", limits: WorkerLimits
    ) -> None:
        """Begin with a request; the process limits its processor time by itself."""
        self._process, self._limits = process, limits
        self._deadline = time.monotonic() + limits.wall_s
        self._exceeded = ""

    def wait(self, connection: Connection) -> None:
        """Wait for the answer, or for the end of the process, which is killed at a limit."""
        while not (self._exceeded or connection.poll(_PERIOD_S)):
            if used_memory(self._process.pid) > self._limits.memory_bytes:
                self._exceeded = f"{self._limits.memory_bytes / _GIB:.1f} GiB of memory"
            elif time.monotonic() > self._deadline:
                self._exceeded = f"{self._limits.wall_s:g} s"
            if self._exceeded:
                self._process.kill()

    def check(self, reason: str) -> None:
        """Find out why the process ended.

        Args:
            reason: How it ended, as `child_process.exit_reason` describes it.

        Raises:
            WorkerLimitError: It exceeded a limit.
        """
        exceeded = self._exceeded
        if reason == _PROCESSOR_TIME_EXCEEDED:
            exceeded = f"{self._limits.processor_s:g} s of processor time"
        if exceeded:
            raise WorkerLimitError(exceeded)


def used_memory(pid: int) -> int:
    """Return the memory that a process uses [byte]; 0 if it ended."""
    try:
        resident = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(resident) * os.sysconf("SC_PAGE_SIZE")


def share_of_memory(divisor: int, largest: int) -> int:
    """Return a part of this machine's memory [byte], but not more than `largest`."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(total // divisor, largest)
