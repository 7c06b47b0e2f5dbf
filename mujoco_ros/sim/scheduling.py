"""Asking the operating system to run this process when it is due, not when others have finished."""

import os
from pathlib import Path


def schedule(priority: int) -> bool:
    """Give every thread of this process a real-time priority, as ros2_control's manager does.

    Threads started later inherit it. It needs the right to do so (root, or an ``rtprio`` limit).

    Args:
        priority: Priority for SCHED_FIFO, 1 to 99; 0 returns to normal time sharing.

    Returns:
        Whether the system allowed it for every thread.
    """
    if not hasattr(os, "sched_setscheduler"):
        return False
    policy = os.SCHED_FIFO if priority else os.SCHED_OTHER
    try:
        for thread in Path("/proc/self/task").iterdir():
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(priority))
    except OSError:
        return False
    return True
