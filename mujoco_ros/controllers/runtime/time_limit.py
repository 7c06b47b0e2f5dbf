"""A limit on the wall time of each call of a state's method."""

import ctypes
import logging
import sys
import threading
import time
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

from mujoco_ros.controllers.fsm.state_calls import TimeLimitError
from mujoco_ros.process.managed_process import processor_times

T = TypeVar("T")
P = ParamSpec("P")
_LOG = logging.getLogger(__name__)
_POLL_S = 0.05
_RETRY_POLLS = 10  # polls between two interruptions of the same call, which may catch the first one
_BLOCKED_POLLS = 40
_ROUNDING_S = 0.005


class _Interruption(BaseException):
    """Raised in the thread of a call that exceeded its limit; `except Exception` ignores it."""


class TimeLimit:
    """Ends calls that take too long, such as endless loops, by an exception in their thread.

    A thread watches each call, and adds up the time in which it could run: at most one interval for
    each poll, so that a process that was stopped exceeds no limit. The exception takes effect at
    the next Python instruction, never outside the call nor in functions wrapped by `shielded`: a
    call is left in the order *mark as left, look whether the watching thread has claimed it*, and
    the watching thread goes in the order *claim, look whether the call is still running, raise*.
    One of both notices the other; a claimed call waits for the end of that sequence, and removes an
    exception that did not take effect.
    """

    def __init__(
        self, limit_s: float, place: Callable[[FrameType | None], str], name: str = ""
    ) -> None:
        """Prepare the limit; `place` describes the call by the innermost frame of its thread."""
        self.limit_s = limit_s  # wall time of a call [s]; 0 for no limit
        # Place of the running call that exceeds the limit; empty if there is none
        self.overdue = self._late_place = ""
        self._place, self._name = place, name
        self._thread: threading.Thread | None = None
        self._calls = 0
        # Number of the call and its thread; `_running` is None while it must not be interrupted.
        self._current: tuple[int, int] | None = None
        self._running: tuple[int, int] | None = None
        self._claimed = 0  # number of the last call that was found to exceed the limit
        self._raising = False
        # Of the watching thread: the call at the last poll, the time of it, and how long the thread
        # of the call had waited for the processor [s]; the time spent in the call, and the polls
        # since it exceeds the limit.
        self._polled: tuple[tuple[int, int], float, float] | None = None
        self._spent_s, self._late_polls = 0.0, 0

    def call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Call a function with an argument; TimeLimitError if it exceeded the limit."""
        if not self.limit_s:
            return function(argument)
        if self._thread is None or not self._thread.is_alive():  # also after a fork
            watched = (weakref.ref(self),)
            self._thread = threading.Thread(
                target=_watch, args=watched, name="state time limit", daemon=True
            )
            self._thread.start()
        self._calls = number = self._calls + 1
        try:
            return self._call(number, function, argument)
        except _Interruption:
            self._leave()
        except BaseException:
            if self._claimed != number:
                raise
            self._leave()
        self._current = None
        raise TimeLimitError(
            f"it did not return within {self.limit_s:g} s and was interrupted", self._late_place
        )

    def shielded(self, function: Callable[P, T]) -> Callable[P, T]:
        """Return a function that an interruption cannot leave half done."""

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            running = self._running
            if running is None or running[1] != threading.get_ident():
                return function(*args, **kwargs)
            self._running = None
            self._end_if_claimed(running)
            try:
                return function(*args, **kwargs)
            finally:
                self._end_if_claimed(running)
                self._running = running

        return call

    def _call(self, number: int, function: Callable[[Any], Any], argument: Any) -> Any:
        try:
            self._current = self._running = number, threading.get_ident()
            result = function(argument)
            self._running = self._current = None
        except BaseException:
            self._running = self._current = None
            if self._claimed == number:
                self._leave()
            raise
        if self._claimed == number:
            self._leave()
            raise _Interruption
        return result

    def _end_if_claimed(self, running: tuple[int, int]) -> None:
        """End a call that has exceeded the limit; for functions that cannot be interrupted."""
        if self._claimed == running[0]:
            overdue = self.overdue
            self._leave()
            # A state that catches the interruption is interrupted again.
            self.overdue, self._running = overdue, running
            raise _Interruption

    def _leave(self) -> None:
        """Make sure that a claimed call is not interrupted any more."""
        while True:
            try:
                self._running = None
                self.overdue = ""
                while self._raising:
                    time.sleep(0.0005)
                _raise_in(threading.get_ident(), None)
                return
            except _Interruption:
                continue  # it took effect here instead of in the call

    def poll(self) -> None:
        """Interrupt the running call if it exceeds the limit; for the watching thread."""
        running, last = self._current, self._polled
        if running is None:
            self._polled = None
            return
        now, waited_s = time.monotonic(), _waited_s(running[1])
        self._polled = running, now, waited_s
        if last is None or last[0] is not running:
            self._spent_s, self._late_polls = 0.0, 0
            return
        # Without time for which the process was stopped, or other programs had the processor.
        spent_s = now - last[1] - max(0.0, waited_s - last[2])
        self._spent_s += min(max(0.0, spent_s), _POLL_S)
        if not self.limit_s or self._spent_s < self.limit_s - _ROUNDING_S:
            return
        late = self._late_polls
        self._late_polls += 1
        if late == 0:
            self._report(running)
        elif late == _BLOCKED_POLLS:
            _LOG.error(
                "%s%s still does not return: it blocks outside of Python code, which cannot be "
                "interrupted; nothing continues until it returns",
                self._name,
                self.overdue,
            )
        if late % _RETRY_POLLS == 0:
            self._interrupt(running)

    def _report(self, running: tuple[int, int]) -> None:
        place = self._place(sys._current_frames().get(running[1]))
        if self._current is not running:
            return
        self.overdue = self._late_place = place
        _LOG.error("%s%s does not return for %g s", self._name, place, self.limit_s)

    def _interrupt(self, running: tuple[int, int]) -> None:
        self._raising = True
        try:
            self._claimed = running[0]
            if self._running is running:
                _raise_in(running[1], _Interruption)
        finally:
            self._raising = False


def _watch(limit: "weakref.ref[TimeLimit]") -> None:
    while True:
        time.sleep(_POLL_S)
        watched = limit()
        if watched is None:
            return
        watched.poll()
        del watched


def _waited_s(ident: int) -> float:
    """Return how long a thread of this process was runnable but not running [s]."""
    for thread in threading.enumerate():
        if thread.ident == ident and thread.native_id is not None:
            return processor_times(thread.native_id)[1]
    return 0.0


def _raise_in(thread: int, exception: type[BaseException] | None) -> None:
    """Raise an exception in a thread at its next Python instruction; None removes a pending one."""
    value = None if exception is None else ctypes.py_object(exception)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), value)
