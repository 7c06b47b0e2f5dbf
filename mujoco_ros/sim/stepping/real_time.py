"""Steps that are due, percentiles of durations, and the real-time priority of a thread."""

import logging
import math
import os
import resource
import threading
from array import array
from contextlib import suppress
from pathlib import Path

import numpy as np


class Pacer:
    """Decides when the next physics step is due; never reads a clock itself.

    Catch-up after a stall is bounded: a larger lag is dropped and counted.
    """

    def __init__(self, timestep: float, *, factor: float = 1.0, catch_up_s: float = 0.05) -> None:
        """Schedule steps of `timestep` simulated seconds.

        `factor` is simulated seconds per wall second, 0 means as fast as possible. A lag behind the
        wall clock of up to `catch_up_s` [s] is caught up.
        """
        self.catch_up_s = catch_up_s
        self.dropped_s = 0.0
        """Wall time dropped since the start [s]."""
        self.late_steps = 0
        """Steps that started a whole step period or more after they were due (deadline misses)."""
        self.lag_s = 0.0
        """How late the last step started [s]."""
        self._timestep = timestep
        self._due: float | None = None
        self.factor = factor

    @property
    def factor(self) -> float:
        """Simulated seconds per wall second; 0 means as fast as possible."""
        return self._factor

    @factor.setter
    def factor(self, factor: float) -> None:
        if not 0 <= factor < float("inf"):
            raise ValueError(f"real-time factor must be a finite number of 0 or more, got {factor}")
        self._factor = factor
        self._period = self._timestep / factor if factor else 0.0
        self._due = None

    def set_timestep(self, timestep: float) -> None:
        """Set the simulated seconds per step."""
        self._timestep = timestep
        self.factor = self._factor

    def wait(self, now: float) -> float:
        """Return how long to sleep before the next step [s] at wall time `now` [s]; 0 when due."""
        if not self._factor or self._due is None:
            return 0.0
        return max(0.0, self._due - now)

    def started(self, now: float) -> None:
        """Register a step that starts at wall time `now` [s], and schedule the next one."""
        if not self._factor:
            self.lag_s = 0.0
            return
        if self._due is None:
            self._due = now
        self.lag_s = now - self._due
        if self.lag_s >= self._period:
            self.late_steps += 1
        if self.lag_s > self.catch_up_s:
            self.dropped_s += self.lag_s - self.catch_up_s
            self._due = now - self.catch_up_s
        self._due += self._period

    def numbers(self) -> tuple[float, ...]:
        """Return the state, for compiled steps; the time of the next step is NaN if it is due."""
        due = math.nan if self._due is None else self._due
        return due, self._period, self.catch_up_s, self.dropped_s, self.lag_s, self.late_steps

    def take_numbers(self, numbers: np.ndarray) -> None:
        """Continue from `numbers` after compiled steps."""
        due, _, _, self.dropped_s, self.lag_s, late = numbers.tolist()
        self._due, self.late_steps = None if math.isnan(due) else due, int(late)

    def restart(self) -> None:
        """Drop the lag without counting it: the next step is due at once, as after a pause."""
        self._due = None
        self.lag_s = 0.0

    def excuse(self, now: float) -> None:
        """Drop a lag beyond `catch_up_s` without counting it, as after a wait for commands."""
        if self._due is not None and now - self._due > self.catch_up_s:
            self.restart()


class Histogram:
    """Counts durations in bins of 1 µs up to `limit_us`; longer ones land in the last bin."""

    def __init__(self, limit_us: int = 20_000) -> None:
        self._limit = limit_us
        # An element of an array of Python is increased in half the time of one of NumPy.
        self._cells = array("q", bytes(8 * (limit_us + 1)))
        self.counts = np.frombuffer(self._cells, dtype=np.int64)
        """Count of each bin.  # (limit_us + 1,)"""
        self._cumulative = np.zeros_like(self.counts)

    def add(self, duration_s: float) -> None:
        """Count one duration [s]."""
        index = int(duration_s * 1e6)
        self._cells[index if 0 <= index < self._limit else self._limit] += 1

    def percentiles(self, *percents: float) -> tuple[float, ...]:
        """Return percentiles [s], each the upper edge of its bin; NaN while empty."""
        cumulative = np.cumsum(self.counts, out=self._cumulative)
        if not cumulative[-1]:
            return (float("nan"),) * len(percents)
        # Integers, or all counts would be converted.
        ranks = np.ceil(np.asarray(percents) / 100.0 * cumulative[-1]).astype(np.int64)
        return tuple(float(b + 1) * 1e-6 for b in np.searchsorted(cumulative, ranks))

    def clear(self) -> None:
        """Discard all counts."""
        self.counts[:] = 0


_LOG = logging.getLogger(__name__)
_OVERLOAD_S = 0.2
"""Real time lost between two calls of `excuse` from which on the machine counts as too slow."""
_WITHOUT_PRIORITY_S = (10.0, 300.0)
"""Time for which such a machine has no real-time priority: at first, and after doublings [s]."""
_THREADS = Path("/proc/self/task")
_NICE, _LARGEST_NICE = 5, 19


def schedule(priority: int) -> bool:
    """Give the calling thread a real-time priority, and the other threads the next lower one.

    It waits for them: they hold the interpreter's lock, and receive and send its messages. This
    requires root or an ``rtprio`` limit. Threads and processes that start afterwards do not inherit
    the priority. It is for SCHED_FIFO, 1 to 99; 0 returns to normal time sharing.

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
    for thread in _threads() - {threading.get_native_id()}:
        with suppress(OSError):  # it may have ended
            os.sched_setscheduler(thread, policy, lower)
    return True


def _threads() -> set[int]:
    """Return the ids of all threads of this process, where the system lists them."""
    return {int(each.name) for each in _THREADS.iterdir()} if _THREADS.is_dir() else set()


class LowPriority:
    """A lower priority of time sharing for all threads of the process, behind those that read."""

    def __init__(self) -> None:
        """Change nothing yet."""
        self._before: int | None = None  # the nice value, while it is changed

    def want(self, wanted: bool) -> None:
        """Lower the priority where the system permits to restore it, or restore it."""
        if wanted is (self._before is not None):
            return
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        if self._before is not None:
            nice, self._before = self._before, None
        elif os.geteuid() == 0 or _lowest_nice() <= nice:
            nice, self._before = min(nice + _NICE, _LARGEST_NICE), nice
        else:
            return
        for thread in _threads():
            with suppress(OSError):  # it may have ended
                os.setpriority(os.PRIO_PROCESS, thread, nice)


def _lowest_nice() -> int:
    """Return the lowest nice value that this process may set."""
    if not hasattr(resource, "RLIMIT_NICE"):
        return _LARGEST_NICE + 1
    limit, _ = resource.getrlimit(resource.RLIMIT_NICE)
    return 20 - limit if limit != resource.RLIM_INFINITY else -20


class RealTimePriority:
    """Real-time priority of a thread, which it drops for a while when it is too slow.

    All methods are for that thread.
    """

    def __init__(self, priority: int, late: str) -> None:
        """Request nothing yet, of a priority as in `schedule`; 0 for none.

        `late` is what may be late without priority, for the log.
        """
        self._priority, self._late = priority, late
        self._is_wanted = self._is_held = False
        self._held_since = -math.inf
        self._without_s = 0.0
        self._restore_at: float | None = None  # while it is dropped
        self._overload_s = _OVERLOAD_S

    def want(self, wanted: bool, now: float, lost_s: float) -> None:
        """Request the priority, once it is due after a drop, or return it.

        Times are monotonic [s]; `lost_s` is the real time lost so far.
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
        """Drop the priority of a thread that is too slow, or restore it when it is due; see `want`.

        Each drop lasts longer than the one before, unless the priority was kept for long.
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
