"""Real-time priority of a thread and those that it may wait for."""

import os
import threading
from contextlib import suppress
from pathlib import Path

NOT_PERMITTED = (
    "the system permits no real-time priority (an 'rtprio' limit would); %s may be late while "
    "other programs are busy"
)
"""Log line, with what may be late."""

_THREADS = Path("/proc/self/task")


def schedule(priority: int) -> bool:
    """Give the calling thread a real-time priority, and the other threads the next lower one.

    It waits for them: they hold the interpreter's lock, and receive and send its messages. This
    requires root or an ``rtprio`` limit. Threads and processes that start afterwards do not inherit
    the priority.

    Args:
        priority: Priority for SCHED_FIFO, 1 to 99; 0 returns to normal time sharing.

    Returns:
        Whether the system allowed it.
    """
    if not hasattr(os, "sched_setscheduler"):
        return False
    # Only a privileged process may remove the flag again.
    policy = (os.SCHED_FIFO if priority else os.SCHED_OTHER) | os.SCHED_RESET_ON_FORK
    try:
        os.sched_setscheduler(0, policy, os.sched_param(priority))
    except OSError:
        return False
    lower = os.sched_param(max(priority - 1, min(priority, 1)))
    for thread in _other_threads():
        with suppress(OSError):  # it may have ended
            os.sched_setscheduler(thread, policy, lower)
    return True


def _other_threads() -> list[int]:
    """Return the other threads of this process; none where the system does not list them."""
    if not _THREADS.is_dir():
        return []
    threads = {int(entry.name) for entry in _THREADS.iterdir()}
    return sorted(threads - {threading.get_native_id()})
