"""Tells the supervisor that the viewer lives, also while a frame takes long."""

import threading
import time
from collections.abc import Callable
from typing import Protocol

_BEAT_S = 0.1
# A large model may take so long to get to the page, or a frame on a machine that is overloaded.
_LONGEST_FRAME_S = 20.0


class Beating(Protocol):
    """What is told, see `SharedState.beat`."""

    def beat(self) -> None:
        """Take notice of a sign of life."""


class Heart:
    """Beats in a thread of its own, until there are no more frames.

    A process that is stopped, or whose interpreter is stuck, beats no more at once.
    """

    def __init__(
        self,
        state: Beating,
        longest_s: float = _LONGEST_FRAME_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Beat to `state`, unless a frame takes longer than `longest_s`."""
        self._state, self._longest_s, self._now = state, longest_s, now
        self._framed = now()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heart", daemon=True)

    def start(self) -> None:
        """Begin to beat."""
        self._thread.start()

    def frame(self) -> None:
        """Take notice that another frame begins."""
        self._framed = self._now()

    def beat(self) -> None:
        """Beat, if frames are made."""
        if self._now() - self._framed <= self._longest_s:
            self._state.beat()

    def stop(self) -> None:
        """Beat no more."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(_BEAT_S):
            self.beat()
