"""Limits of worker processes, and calls of a function in a copy of this process with limits."""

import gc
import math
import os
import resource
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from threading import Lock
from typing import NoReturn

from mujoco_ros.process.child_process import exit_reason
from mujoco_ros.process.fork_server import end_with

_GIB = 1 << 30
_ADDRESSES_PER_BYTE = 8  # programs reserve more addresses than they use memory
_EXPENDABLE = b"1000"
_FAILED, _NO_MEMORY = 1, 2
"""Exit codes of a copy."""
_FORKING = Lock()
"""Held while a pipe can be written to here: a copy must not keep the pipe of another one open."""


class WorkerDiedError(RuntimeError):
    """The worker process ended before it answered."""


class WorkerLimitError(WorkerDiedError):
    """The worker process was ended because it exceeded a limit; the message states the limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerLimits:
    """Limits of one request, and of the time without one."""

    processor_s: float  # processor time of all threads [s]
    wall_s: float  # time until the answer [s]
    memory_bytes: int  # memory in use [byte]
    idle_s: float = 30.0  # time without a request after which the process ends [s]

    @property
    def processor(self) -> str:
        """The limit of the processor time, for a `WorkerLimitError`."""
        return f"{self.processor_s:g} s of processor time"

    @property
    def memory(self) -> str:
        """The limit of the memory, likewise."""
        return f"{self.memory_bytes / _GIB:.1f} GiB of memory"

    @property
    def wall(self) -> str:
        """The limit of the time until the answer, likewise."""
        return f"{self.wall_s:g} s"

    def apply(self) -> None:
        """Limit this process for the next request; it must not be called in the parent."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        _lower(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + self.processor_s))
        _lower(resource.RLIMIT_AS, self.memory_bytes * _ADDRESSES_PER_BYTE)
        _lower(resource.RLIMIT_CORE, 0)  # a crash writes no file
        # If memory runs out, the kernel ends this process rather than its parent.
        Path("/proc/self/oom_score_adj").write_bytes(_EXPENDABLE)


def _lower(kind: int, limit: int) -> None:
    """Set a limit of this process, but not above the limit of the system."""
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


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


def limited_call(function: Callable[[], bytes], limits: WorkerLimits) -> bytes:
    """Return the result of a function that runs in a copy of this process.

    The copy takes a twentieth of the time of a new Python. It has one thread, so the function must
    not wait for others, and calls no library with threads or locks of its own. It cannot write
    files, and starts no program unless its user is root; nothing that it changes is seen here. It
    may raise MemoryError alone. The memory of `limits` is in addition to this process's.

    WorkerLimitError names an exceeded limit, WorkerDiedError an end without a result.
    """
    parent, content = os.getpid(), None
    with _FORKING:
        result, answer = Pipe(duplex=False)
        with answer:
            try:
                pid = _fork()
            except OSError as error:
                result.close()
                raise WorkerDiedError(f"it cannot be started: {error.strerror}") from error
            if pid == 0:
                _run(function, limits, parent, answer)
    with result:
        try:
            in_time = result.poll(limits.wall_s)
            with suppress(EOFError, OSError):  # it ended before or amid the result
                content = result.recv_bytes() if in_time else None
        finally:
            if content is None:
                os.kill(pid, signal.SIGKILL)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if content is not None:
        return content
    if not in_time:
        raise WorkerLimitError(limits.wall)
    if code == -signal.SIGXCPU:
        raise WorkerLimitError(limits.processor)
    if code == _NO_MEMORY:
        raise WorkerLimitError(limits.memory)
    raise WorkerDiedError(exit_reason(code))


def _fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns of locks that other threads hold, which the function does not need.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _run(
    function: Callable[[], bytes], limits: WorkerLimits, parent: int, answer: Connection
) -> NoReturn:
    code = _FAILED
    try:
        end_with(parent)
        gc.disable()  # objects of the parent must not be finalized here
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        limits.apply()
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
        addresses = int(pages) * os.sysconf("SC_PAGE_SIZE") + limits.memory_bytes
        _lower(resource.RLIMIT_AS, addresses)
        _lower(resource.RLIMIT_FSIZE, 0)
        _lower(resource.RLIMIT_NPROC, 0)
        answer.send_bytes(function())
        code = 0
    except MemoryError:
        code = _NO_MEMORY
    finally:
        os._exit(code)
