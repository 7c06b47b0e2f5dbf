"""Signals that request the end of a program, and a limit on the time that the end takes.

Another process runs this file and keeps the limit. Each executable starts it, so this file imports
little.
"""

import atexit
import faulthandler
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

_STDIN, _STDOUT, _STDERR = range(3)
_WITHDRAWN = 255  # byte in the pipe: the request was for a part of the work
_EXIT = 254  # byte in the pipe: the program is complete, and its interpreter exits
_LIMIT_S = 8.0
"""Default time from the request to the kill [s]; `ros2 launch` kills 10 s after its SIGINT."""
_DUMP = signal.SIGRTMAX  # the signal at which a program writes the frames of its main thread
_DUMP_S = 0.3
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REQUESTS: dict[int, str] = {int(number): f"it received {number.name}" for number in _SIGNALS}
_REQUESTS[_EXIT] = "its work is complete"
_FRAMES = 3
_UNKNOWN = "code without Python frames"
_pipe: int | None = None  # where CPython's handler of signals writes their numbers


def limit_end(limit_s: float = _LIMIT_S) -> None:
    """Have this process killed if it has not ended so long after a signal [s].

    A thread could not do that: a call of the middleware that hangs may hold the interpreter's lock.
    CPython's handler is C and writes the signal into a pipe. A small process reads it, reports
    where the main thread hangs, and kills this process. Handlers of Python run as before.
    """
    global _pipe
    if _pipe is not None:
        return
    requests, _pipe = os.pipe()
    frames, dump = os.pipe()
    os.set_blocking(_pipe, False)
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(limit_s)],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, requests, _STDIN),
                (os.POSIX_SPAWN_DUP2, frames, _STDOUT),
            ],
            setsid=True,  # signals to the process group are not for it
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
    _report(_WITHDRAWN)


def limit_exit() -> None:
    """Limit the time in which the interpreter exits as if there were a signal.

    Fast DDS 2.14 may wait for ever for its own listener (1 of 350 ends, measured).
    """
    atexit.unregister(_begin_exit)
    atexit.register(_begin_exit)


def _begin_exit() -> None:
    if _pipe is None:
        return
    # The interpreter restores the default actions: another signal would look like a crash.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    _report(_EXIT)


def _report(byte: int) -> None:
    if _pipe is not None:
        with suppress(OSError):  # full of signals, for which the limit applies
            os.write(_pipe, bytes([byte]))


def _forget() -> None:
    """Keep the signals of a forked process out of this process's pipe."""
    global _pipe
    _pipe = None
    signal.set_wakeup_fd(-1)


def _watch(parent: int, limit_s: float) -> None:
    """Wait for a request or the end of the parent, and kill the parent after the limit [s].

    Standard input has the signals and the bytes above, standard output the frames of the parent.
    """
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is for the parent
    try:
        process = os.pidfd_open(parent)
    except ProcessLookupError:
        return  # it has ended already
    if os.getppid() != parent:
        return  # it ended before it was opened
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(_STDIN, select.POLLIN)
    reason, deadline = "", float("inf")
    while (left := deadline - time.monotonic()) > 0.0:
        ready = [descriptor for descriptor, _ in poll.poll(1e3 * left if reason else None)]
        if process in ready:
            return
        for byte in os.read(_STDIN, 64) if ready else b"":
            if byte == _WITHDRAWN:
                reason, deadline = "", float("inf")
            elif byte in _REQUESTS and not reason:
                reason, deadline = _REQUESTS[byte], time.monotonic() + limit_s
    signal.pidfd_send_signal(process, _DUMP)
    poll.unregister(_STDIN)
    if poll.poll(1e3 * _DUMP_S):
        return
    text = f"{limit_s:g} s after {reason}, this program still runs {_place()}; it is killed"
    with suppress(OSError):  # its terminal is closed
        os.write(_STDERR, f"mujoco_ros: error: {text}\n".encode())
    signal.pidfd_send_signal(process, signal.SIGKILL)


def _place() -> str:
    """Return the innermost frames, as the module faulthandler writes them."""
    os.set_blocking(_STDOUT, False)
    try:
        text = os.read(_STDOUT, 1 << 16).decode(errors="replace")
    except BlockingIOError:
        return _UNKNOWN
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("File ")]
    return " < ".join(lines[:_FRAMES]) or _UNKNOWN


if __name__ == "__main__":
    _watch(int(sys.argv[1]), float(sys.argv[2]))
