"""Program that kills its parent some seconds after the parent was requested to end.

See `end_limit`. It is started with each executable, and imports as little as possible.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress

WITHDRAWN = 255
"""Byte in the pipe: the request was for a part of the program."""
EXIT = 254
"""Byte in the pipe: the program is complete, and its interpreter exits."""
LIMIT_S = 8.0
"""Default time from the request to the kill [s]; `ros2 launch` kills 10 s after its SIGINT."""
_DUMP_S = 0.3
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REQUESTS: dict[int, str] = {int(it): f"it received {it.name}" for it in _SIGNALS}
_REQUESTS[EXIT] = "its work is complete"
_FRAMES = 3
_UNKNOWN = "code without Python frames"


def main(parent: int, requests: int, frames: int, dump: int, *, limit_s: float = LIMIT_S) -> None:
    """Wait for a request or the end of the parent, and kill the parent after the limit.

    Args:
        parent: The process.
        requests: Pipe with the number of each signal, and the bytes above.
        frames: Pipe with the frames of its main thread.
        dump: The signal at which it writes them.
        limit_s: Time from the request to the kill [s].
    """
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # Ctrl-C is for the parent
    process = os.pidfd_open(parent)
    if os.getppid() != parent:
        return  # it ended before the line above
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.register(requests, select.POLLIN)
    reason, deadline = "", float("inf")
    while (left := deadline - time.monotonic()) > 0.0:
        ready = [descriptor for descriptor, _ in poll.poll(1e3 * left if reason else None)]
        if process in ready:
            return
        for byte in os.read(requests, 64) if ready else b"":
            if byte == WITHDRAWN:
                reason, deadline = "", float("inf")
            elif byte in _REQUESTS and not reason:
                reason, deadline = _REQUESTS[byte], time.monotonic() + limit_s
    signal.pidfd_send_signal(process, dump)
    poll.unregister(requests)
    if poll.poll(1e3 * _DUMP_S):
        return
    text = f"{limit_s:g} s after {reason}, this program still runs {_place(frames)}; it is killed"
    with suppress(OSError):  # its terminal is closed
        os.write(2, f"mujoco_ros: error: {text}\n".encode())
    signal.pidfd_send_signal(process, signal.SIGKILL)


def _place(frames: int) -> str:
    """Return the innermost frames, as the module faulthandler writes them."""
    os.set_blocking(frames, False)
    try:
        text = os.read(frames, 1 << 16).decode(errors="replace")
    except BlockingIOError:
        return _UNKNOWN
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("File ")]
    return " < ".join(lines[:_FRAMES]) or _UNKNOWN


if __name__ == "__main__":
    main(*map(int, sys.argv[1:5]), limit_s=float(sys.argv[5]))
