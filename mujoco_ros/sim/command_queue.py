"""The queue of commands that the physics thread runs between two steps."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from mujoco_ros.control.events import QueueFullError

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
    """A bounded queue of commands, filled by any thread and drained by the physics thread.

    Attributes:
        inlet: Another way by which commands come, if there is one; the physics thread sets it.
        held: Whether commands wait for the next tick of the lockstep, which sets it.
        longest: Most commands that waited at a time, since it was last set to 0.
    """

    def __init__(self, limit: int = 1024) -> None:
        self.inlet: Inlet | None = None
        self.held = False
        self.longest = 0
        self._limit = limit
        self._closed = False
        self._lock = threading.Lock()  # of submitting threads; draining needs none
        self._submitted = threading.Event()
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    def submit(self, command: Callable[[], T], *, urgent: bool = False) -> "Future[T]":
        """Queue a command for the physics thread; the future receives its result or exception.

        An urgent one, which must not be lost, is queued beyond the limit.

        Raises:
            QueueFullError: The queue is full, or closed; nothing was queued.
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
        """Make `wait` return."""
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
