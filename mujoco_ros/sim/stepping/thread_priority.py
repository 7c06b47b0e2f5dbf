"""Real-time priority of a thread."""

import os

NOT_PERMITTED = (
    "the system permits no real-time priority (an 'rtprio' limit would); %s may be late while "
    "other programs are busy"
)
"""Log line, with what may be late."""


def schedule(priority: int) -> bool:
    """Give the calling thread a real-time priority; requires root or an ``rtprio`` limit.

    Threads and processes that it starts afterwards do not inherit the priority.

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
    return True
