"""Tells the supervisor that the viewer lives, frame by frame."""

import time
from collections.abc import Callable
from typing import Protocol

from mujoco_ros.sim.shared_memory.frame_timeout import FrameTimeout

_SETTLING = 20
"""Frames after something new that say nothing about how long others take."""


class Beating(Protocol):
    """What is told, see `SharedState.beat`."""

    def beat(self, patience_s: float = ...) -> None:
        """Promise another sign of life within `patience_s`."""


class Heartbeat:
    """Promises with each frame when the next one is to come, by how long those before it took."""

    def __init__(self, state: Beating, now: Callable[[], float] = time.monotonic) -> None:
        """Beat to `state`."""
        self._state, self._now = state, now
        self._patience = FrameTimeout()
        self._framed: float | None = None
        self._settling = 0

    def frame(self, *, is_new: bool = False) -> None:
        """Take notice that another frame begins.

        Args:
            is_new: Whether it shows a model, or somebody, for the first time: that may take long.
        """
        now = self._now()
        if self._framed is not None:
            self._patience.note(now - self._framed)
        self._framed = now
        self._settling = _SETTLING if is_new else max(self._settling - 1, 0)
        self._state.beat(self._patience.allow(first=self._settling > 0))
