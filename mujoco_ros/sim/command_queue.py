"""The only way into the physics thread: commands that it runs between two steps."""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class QueueFullError(RuntimeError):
    """The physics thread does not keep up with the commands it is given, or has ended."""


class CommandQueue:
    """A bounded queue of commands, filled by any thread and drained by the physics thread."""

    def __init__(self, limit: int = 1024) -> None:
        """Create a queue that holds at most `limit` commands."""
        self._limit = limit
        self._closed = False
        self._lock = threading.Lock()  # of those who submit; draining needs none
        self._news = threading.Event()
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()

    def submit(self, command: Callable[[], T], *, urgent: bool = False) -> "Future[T]":
        """Queue a command; its result, or what it raised, arrives in the future.

        Args:
            command: What the physics thread is to run.
            urgent: Whether to take it even beyond the limit; for the few that must not get lost.

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
        """Sleep until something was submitted since the last call, or `wake` was called."""
        self._news.wait(timeout_s)
        self._news.clear()  # before the next draining: nothing that comes after it is slept over

    def wake(self) -> None:
        """Have `wait` return."""
        if not self._news.is_set():
            self._news.set()

    def drain(self) -> None:
        """Run what is waiting now, in order. Called by the physics thread alone."""
        for _ in range(len(self._waiting)):
            command, future = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(command())
            except Exception as error:
                future.set_exception(error)

    def close(self) -> None:
        """Take no more commands and cancel those that wait; nobody would run them."""
        with self._lock:
            self._closed = True
            while self._waiting:
                self._waiting.popleft()[1].cancel()
