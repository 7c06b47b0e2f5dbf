"""The queue of commands for the physics thread, and stamps from before a reset."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

import numpy as np

from mujoco_ros.control.events import QueueFullError

_FARTHEST_START_S = 86_400.0
"""Longest time until a trajectory starts: a stamp of the wall clock is decades ahead."""
_IN_FLIGHT_S = 1.0
"""Longest time for which a message is in flight, and a trajectory starts after it was sent."""
NANOSECOND = 1e-9
"""One nanosecond [s], the unit of stamps."""
_ROUNDING_S = NANOSECOND
_KEPT = 16
_LABEL, _DIGITS = "epoch ", 8


def epoch_label(number: int) -> str:
    """Return the ``header.frame_id`` of ticks of an epoch: all have the same length."""
    return f"{_LABEL}{number % 10**_DIGITS:0{_DIGITS}}"


def epoch_of(frame_id: str) -> int | None:
    """Return the number of the epoch that a ``header.frame_id`` names; None if it names none."""
    digits = frame_id.removeprefix(_LABEL)
    return int(digits) if digits != frame_id and digits.isdecimal() else None


class ClockEpochs:
    """Distinguishes stamps from before the last reset from those after it.

    Where the clock continues, that is a comparison. Where it was set back, a stamp in the future is
    from before the reset if it is the time of sending. If it is a start time, it may be valid:
    shortly after a reset, it belongs to the nearer one of the current time and the time at which
    the clock was set back.
    """

    def __init__(self) -> None:
        self.number = 0
        """Number of resets so far."""
        self._begin = -float("inf")
        self._ends: deque[float] = deque(maxlen=_KEPT)

    def begin(self, before: float, after: float) -> None:
        """Register a reset, which set the time from `before` to `after` [s]."""
        self.number += 1
        if before - self._begin > _IN_FLIGHT_S:
            self._ends.clear()  # messages from before the last reset have arrived by now
        if after < before:
            self._ends.append(before)
        self._begin = after

    def problem(self, stamp: float, now: float, *, starts: bool = False) -> str:
        """Return why a stamp is from before a reset, or a start too far ahead; empty if neither.

        With `starts`, the stamp is a start time, rather than the time of sending; both in [s].
        """
        if starts and stamp - now > _FARTHEST_START_S:
            return (
                f"starts at {stamp:.6f} s, more than a day after the simulated time {now:.6f} s; "
                "does its sender use the simulated time?"
            )
        if stamp < self._begin - _ROUNDING_S:
            return f"stamped {stamp:.6f} s, before the simulation was reset at {self._begin:.6f} s"
        fresh = now - self._begin <= _IN_FLIGHT_S
        for end in self._ends:
            ahead, off = stamp - now, abs(stamp - end)
            nearer = fresh and off < ahead
            if starts:
                past = nearer and off <= _IN_FLIGHT_S
            else:
                past = stamp <= end + _ROUNDING_S and (nearer or ahead > _IN_FLIGHT_S)
            if past:
                return (
                    f"stamped {stamp:.6f} s, before the simulation was reset and its time set back "
                    f"from {end:.6f} s"
                )
        return ""


T = TypeVar("T")


class Inlet(Protocol):
    """Another way by which commands come, without a thread between."""

    @property
    def settled(self) -> bool:
        """Whether all that arrived before the last `take` has become a command."""

    def take(self) -> None:
        """Run the commands that are there."""

    def collect(self) -> None:
        """Keep messages until the next `take`, so that no queue of the middleware overflows."""

    def wait(self, timeout_s: float) -> None:
        """Return when there are commands, after `wake`, or after a timeout [s]."""

    def wake(self) -> None:
        """Make `wait` return; for any thread."""


class CommandQueue:
    """A bounded queue of commands, filled by any thread and drained by the physics thread."""

    def __init__(self, limit: int = 1024) -> None:
        # Another way by which commands come, if there is one; the physics thread sets it
        self.inlet: Inlet | None = None
        self.held = False  # whether commands wait for the next tick of the lockstep, which sets it
        # Not 0 while a command or something else waits for the physics thread.  # (1,)
        self.attention = np.zeros(1, dtype=np.int64)
        self.longest = 0  # most commands that waited at a time, since it was last set to 0
        self._limit = limit
        self._closed = False
        self._lock = threading.Lock()  # of submitting threads; draining needs none
        self._submitted = threading.Event()
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    def submit(self, command: Callable[[], T], *, urgent: bool = False) -> "Future[T]":
        """Queue a command for the physics thread; the future receives its result or exception.

        An urgent one is queued beyond the limit. A full or closed queue is a `QueueFullError`.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise QueueFullError("the physics thread has ended")
            if len(self._waiting) >= self._limit and not urgent:
                raise QueueFullError(f"{self._limit} commands are waiting for the physics thread")
            self._waiting.append((command, future))
        self.wake()
        return future

    def wait(self, timeout_s: float) -> None:
        """Wait until a command is submitted after the last call, or `wake` is called."""
        inlet = self.inlet
        if inlet is None:
            self._submitted.wait(timeout_s)
        else:
            inlet.wait(timeout_s)
        self._submitted.clear()  # before the next `drain`, so that no later command is missed

    def wake(self) -> None:
        """Make `wait` return, and end compiled steps."""
        self.attention[0] = 1
        if not self._submitted.is_set():
            self._submitted.set()
        inlet = self.inlet
        if inlet is not None:
            inlet.wake()

    def collect(self) -> None:
        """Keep what has arrived while commands are held; for the physics thread."""
        if self.inlet is not None:
            self.inlet.collect()

    @property
    def settled(self) -> bool:
        """Whether no command waits, and the inlet expects none; for the physics thread."""
        return (self.inlet is None or self.inlet.settled) and not self._waiting

    def drain(self) -> None:
        """Run the commands of the inlet, and the queued ones in order; for the physics thread."""
        self.attention[0] = 0
        inlet = self.inlet
        if inlet is not None:
            inlet.take()
        count = len(self._waiting)
        if count > self.longest:
            self.longest = count
        for _ in range(count):
            command, future = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(command())
            except Exception as error:
                future.set_exception(error)

    def close(self) -> None:
        """Reject further commands, and cancel those that are queued."""
        with self._lock:
            self._closed = True
            while self._waiting:
                self._waiting.popleft()[1].cancel()
