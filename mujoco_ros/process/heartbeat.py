"""Heartbeats of a child process, and the deadline of the next one."""

import time
from collections.abc import Callable

TIMEOUT_S = 1.5
"""Longest time between two heartbeats, unless a process sets a longer timeout."""
FIRST_FRAME_S = 60.0
"""Longest first frame: shaders are compiled, textures uploaded."""
_FRAME_MARGIN = 4.0  # timeout of a frame, in lengths of the longest recent one
_DECAY = 0.9  # factor on the longest frame's length with each frame after it
_UNSTEADY_FRAMES = 20
"""Frames after a change of the model or the viewers that may take as long as a first one."""


class FrameTimeout:
    """Derives the timeout of the next frame from the frames before it."""

    _longest_s = 0.0
    _is_first = _was_first = False

    def allow(self, *, first: bool) -> float:
        """Return the timeout of the frame that begins now [s]; no other frame measures a first."""
        self._was_first, self._is_first = self._is_first, first
        return FIRST_FRAME_S if first else max(TIMEOUT_S, _FRAME_MARGIN * self._longest_s)

    def note(self, seconds: float) -> None:
        """Record how long the frame took [s]."""
        # A first frame counts only until there is another.
        longest_s = 0.0 if self._was_first else _DECAY * self._longest_s
        self._longest_s = max(seconds, longest_s)


class Heartbeat:
    """Publishes a heartbeat with each frame, with a timeout from the frames before it."""

    def __init__(
        self, beat: Callable[[float], object], now: Callable[[], float] = time.monotonic
    ) -> None:
        """Publish through `beat`, which is called with the timeout [s] of the next heartbeat."""
        self._beat, self._now, self._timeout = beat, now, FrameTimeout()
        self._began: float | None = None
        self._unsteady = 0

    def frame(self, *, is_new: bool = False) -> None:
        """Begin another frame; the first of a model or for a client is new, and may take long."""
        now = self._now()
        if self._began is not None:
            self._timeout.note(now - self._began)
        self._began = now
        self._unsteady = _UNSTEADY_FRAMES if is_new else max(self._unsteady - 1, 0)
        self._beat(self._timeout.allow(first=self._unsteady > 0))
