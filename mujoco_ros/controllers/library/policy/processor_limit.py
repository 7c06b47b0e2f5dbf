"""A limit on the processor time of calls into a library that can be asked to return."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_POLL_S = 0.1


class ProcessorLimit:
    """Asks a call to return when its thread has used too much processor time.

    A thread checks the running call ten times a second, so a short call costs nothing but its
    number. The thread ends with this object.
    """

    def __init__(self, limit_s: float, cancel: Callable[[], object]) -> None:
        """Call `cancel` from another thread after `limit_s`; it must not refer to this object."""
        self.is_exceeded = False  # whether the last call was asked to return
        self._limit_s, self._cancel = limit_s, cancel
        self._calls = 0
        self._clock: int | None = None  # of the thread of the running call
        self._lock = threading.Lock()
        self._seen, self._began_s = 0, 0.0
        self._thread: threading.Thread | None = None

    @contextmanager
    def applied(self) -> Iterator[None]:
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Apply the limit until `end`, in this thread."""
        if self._thread is None or not self._thread.is_alive():  # also after a fork
            self._thread = threading.Thread(
                target=_watch, args=(weakref.ref(self),), name="processor limit", daemon=True
            )
            self._thread.start()
        self.is_exceeded = False
        self._calls += 1
        self._clock = time.pthread_getcpuclockid(threading.get_ident())

    def end(self) -> None:
        with self._lock:  # so that no later call is asked to return
            self._clock = None

    def poll(self) -> None:
        """Check the running call; for the watching thread."""
        clock, call = self._clock, self._calls
        if clock is None:
            return
        try:
            used_s = time.clock_gettime(clock)
        except OSError:  # the thread has ended meanwhile
            return
        if call != self._seen:
            self._seen, self._began_s = call, used_s
        elif used_s - self._began_s > self._limit_s:
            with self._lock:
                if self._clock is not None and self._calls == call:
                    self.is_exceeded = True
                    self._cancel()


def _watch(limit: "weakref.ref[ProcessorLimit]") -> None:
    while True:
        time.sleep(_POLL_S)
        watched = limit()
        if watched is None:
            return
        watched.poll()
        del watched
