"""Calls of a function in a copy of this process, with limits of processor time and memory."""

import gc
import os
import resource
import select
import signal
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import NoReturn

from mujoco_ros.process.child_process import exit_reason
from mujoco_ros.process.fork_server import end_with
from mujoco_ros.process.worker_limits import WorkerDiedError, WorkerLimitError, WorkerLimits

_GIB = 1 << 30
_NOTHING_WRITTEN, _NO_MEMORY = 1, 2
"""Exit codes of a copy."""
_BLOCK_BYTES = 1 << 20
_FORKING = Lock()
"""Held while a pipe can be written to here: a copy must not keep the pipe of another one open."""


def limited_call(function: Callable[[], bytes], limits: WorkerLimits) -> bytes:
    """Return the result of a function that runs in a copy of this process.

    The copy takes a twentieth of the time of a new Python with the same imports. It has one thread,
    so the function must not wait for others, and it is made of Python: it calls no library that has
    threads or locks of its own. It cannot write files, and starts no program unless its user is
    root; nothing that it changes is seen here.

    Args:
        function: The function; it raises MemoryError and no other exception.
        limits: Its limits. The memory is in addition to what this process has.

    Raises:
        WorkerLimitError: It exceeded a limit; the message states the limit.
        WorkerDiedError: The copy ended without a result; the message states how.
    """
    with _FORKING:
        result, answer = os.pipe()
        parent = os.getpid()
        try:
            pid = _fork()
            if pid == 0:
                _run(function, limits, parent, answer)
        except OSError as error:
            os.close(result)
            raise WorkerDiedError(f"it cannot be started: {error.strerror}") from error
        finally:
            os.close(answer)
    content = None
    try:
        content = _read(result, time.monotonic() + limits.wall_s)
    finally:
        os.close(result)
        if content is None:
            os.kill(pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if content is None:
        raise WorkerLimitError(f"{limits.wall_s:g} s")
    if code == -signal.SIGXCPU:
        raise WorkerLimitError(f"{limits.processor_s:g} s of processor time")
    if code == _NO_MEMORY:
        raise WorkerLimitError(f"{limits.memory_bytes / _GIB:.1f} GiB of memory")
    if code:
        raise WorkerDiedError(exit_reason(code))
    return content


def _fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns of locks that other threads hold, which the function does not need.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _run(function: Callable[[], bytes], limits: WorkerLimits, parent: int, answer: int) -> NoReturn:
    """Write the result of a function, and end this process."""
    code = _NOTHING_WRITTEN
    try:
        end_with(parent)
        gc.disable()  # objects of the parent must not be finalized here
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        _apply(limits)
        content = memoryview(function())
        while content:
            content = content[os.write(answer, content) :]
        code = 0
    except MemoryError:
        code = _NO_MEMORY
    finally:
        os._exit(code)


def _apply(limits: WorkerLimits) -> None:
    limits.apply()
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    addresses = int(pages) * os.sysconf("SC_PAGE_SIZE") + limits.memory_bytes
    for kind, limit in (
        (resource.RLIMIT_AS, addresses),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (limit if hard < 0 else min(limit, hard), hard))


def _read(descriptor: int, deadline: float) -> bytes | None:
    """Return everything that is written to a pipe; None if that takes until the deadline."""
    blocks: list[bytes] = []
    while select.select([descriptor], [], [], max(deadline - time.monotonic(), 0.0))[0]:
        block = os.read(descriptor, _BLOCK_BYTES)
        if not block:
            return b"".join(blocks)
        blocks.append(block)
    return None
