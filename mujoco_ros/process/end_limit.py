"""Signals that request the end of this process, and a limit on the time that it takes."""

import atexit
import faulthandler
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mujoco_ros.process import end_watcher

_DUMP = signal.SIGRTMAX
"""The signal at which this process reports the frames of its main thread."""
_pipe: int | None = None
"""Where CPython's handler of signals writes their numbers."""


def limit_end(limit_s: float = end_watcher.LIMIT_S) -> None:
    """Have this process killed if it has not ended a few seconds after a signal.

    A thread could not do that: a call of the middleware that hangs may hold the interpreter's lock,
    and no Python code runs. CPython's handler is C and writes the signal into a pipe. A small
    process reads it, reports where the main thread hangs, kills this process, and ends with it.
    Handlers of Python run as before.

    Args:
        limit_s: Time from the signal to the kill [s].
    """
    global _pipe
    if _pipe is not None:
        return
    requests, _pipe = os.pipe()
    frames, dump = os.pipe()
    os.set_blocking(_pipe, False)
    command = [sys.executable, "-I", "-S", str(Path(end_watcher.__file__))]
    try:
        subprocess.Popen(
            [*command, *map(str, (os.getpid(), requests, frames, int(_DUMP), limit_s))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[requests, frames],
            start_new_session=True,  # signals to the process group are not for it
        )
    except OSError as error:
        sys.stderr.write(f"mujoco_ros: warning: nothing limits the time to end: {error}\n")
        return
    faulthandler.register(_DUMP, file=dump, all_threads=False)
    # This process also keeps the reader open: a signal never finds a closed pipe.
    signal.set_wakeup_fd(_pipe, warn_on_full_buffer=False)
    os.register_at_fork(after_in_child=_forget)


def handle_signals(handler: Callable[[int], object], *others: signal.Signals) -> None:
    """Call `handler` with the number of each SIGINT, SIGTERM and other given signals."""
    for number in (signal.SIGINT, signal.SIGTERM, *others):
        signal.signal(number, lambda number, _frame: handler(number))


def end_at_signals() -> None:
    """End this process at SIGINT or SIGTERM at once, as there is nothing to clean up yet."""
    handle_signals(lambda _number: os._exit(0))


def withdraw_request() -> None:
    """End the limit that began with a signal: it ended a part of the work, not the program."""
    _report(end_watcher.WITHDRAWN)


def limit_exit() -> None:
    """Limit the time in which the interpreter exits as if there were a signal.

    Fast DDS 2.14 may wait for ever for its own listener if other nodes start or end meanwhile (1 of
    350 ends, measured).
    """
    atexit.unregister(_begin_exit)
    atexit.register(_begin_exit)


def _begin_exit() -> None:
    if _pipe is None:
        return
    # The interpreter restores the default actions: another signal would look like a crash.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _report(end_watcher.EXIT)


def _report(byte: int) -> None:
    if _pipe is not None:
        with suppress(OSError):  # full of signals, for which the limit applies
            os.write(_pipe, bytes([byte]))


def _forget() -> None:
    """Keep the signals of a forked process out of this process's pipe."""
    global _pipe
    _pipe = None
    signal.set_wakeup_fd(-1)
