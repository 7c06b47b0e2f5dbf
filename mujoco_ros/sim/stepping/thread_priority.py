"""Real-time priority of a thread and those that it may wait for."""

import logging
import math
import os
import threading
from contextlib import suppress
from pathlib import Path

_LOG = logging.getLogger(__name__)
_OVERLOAD_S = 0.2
"""Real time lost between two calls of `excuse` from which on the machine counts as too slow."""
_WITHOUT_PRIORITY_S = (10.0, 300.0)
"""Time for which such a machine has no real-time priority: at first, and after doublings [s]."""
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


class RealTimePriority:
    """Real-time priority of a thread, which it drops for a while when it is too slow.

    All methods are for that thread.
    """

    def __init__(self, priority: int, late: str) -> None:
        """Request nothing yet.

        Args:
            priority: As in `schedule`; 0 for none.
            late: What may be late without priority, for the log.
        """
        self._priority, self._late = priority, late
        self._is_wanted = self._is_held = False
        self._held_since = -math.inf
        self._without_s = 0.0
        self._restore_at: float | None = None  # while it is dropped
        self._overload_s = _OVERLOAD_S

    def want(self, wanted: bool, now: float, lost_s: float) -> None:
        """Request the priority, once it is due after a drop, or return it.

        Args:
            wanted: Whether the thread needs it.
            now: Monotonic time [s].
            lost_s: Real time lost so far [s].
        """
        self._is_wanted = wanted
        self.excuse(lost_s)
        if self._restore_at is None or now >= self._restore_at:
            self._restore_at = None
            self._hold(wanted, now)

    def excuse(self, lost_s: float) -> None:
        """Disregard the real time lost so far [s], which was reported."""
        self._overload_s = lost_s + _OVERLOAD_S

    def check(self, now: float, lost_s: float) -> None:
        """Drop the priority of a thread that is too slow, or restore it when it is due.

        Each drop lasts longer than the one before, unless the priority was kept for long.

        Args:
            now: Monotonic time [s].
            lost_s: Real time lost so far [s].
        """
        if self._is_held:
            if lost_s > self._overload_s:
                self._drop(now)
        elif self._restore_at is not None and now >= self._restore_at:
            self.want(self._is_wanted, now, lost_s)

    def release(self) -> None:
        """Return the priority at the end of the thread; the other threads continue."""
        if self._is_held:
            schedule(0)
            self._is_held = False

    def _drop(self, now: float) -> None:
        shortest, longest = _WITHOUT_PRIORITY_S
        last = 0.0 if now - self._held_since > longest else self._without_s
        self._without_s = min(max(2.0 * last, shortest), longest)
        _LOG.warning(
            "too slow for real time: dropping the real-time priority for %g s", self._without_s
        )
        self._hold(False, now)
        self._restore_at = now + self._without_s

    def _hold(self, held: bool, now: float) -> None:
        if not self._priority or held is self._is_held:
            return
        if schedule(self._priority if held else 0):
            self._is_held, self._held_since = held, now
        else:
            self._priority = 0  # request and log once
            _LOG.info(
                "the system permits no real-time priority (an 'rtprio' limit would); %s may be "
                "late while other programs are busy",
                self._late,
            )
