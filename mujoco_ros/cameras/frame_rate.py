"""Times at which frames are due, in simulated time."""

import math

_ROUNDING = 1e-6
"""Tolerance, in frames: a sum of time steps may be slightly less than a frame's due time."""


class FrameRate:
    """Frames at a rate: frame k is due at the first state at or after k / rate.

    The times depend on the simulated time alone, so they repeat after a reset.
    """

    def __init__(self, rate: float) -> None:
        """Set the number of frames per simulated second; 0 is off."""
        self._rate = rate
        self._last: int | None = None

    @property
    def rate(self) -> float:
        """Frames per simulated second."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._rate = rate
        self.restart()

    def is_due(self, time: float) -> bool:
        """Return whether a frame is due at a state of a simulated time [s]."""
        if self._rate <= 0:
            return False
        index = self._index(time)
        if self._last is None:
            is_late = time * self._rate - index > _ROUNDING
            self._last = index if is_late else index - 1
        return index != self._last

    def note(self, time: float) -> None:
        """Record that a frame shows the state at a simulated time [s]."""
        if self._rate > 0:
            self._last = self._index(time)

    def restart(self) -> None:
        """Continue with the next frame that is not late."""
        self._last = None

    def time_to_next(self, time: float) -> float:
        """Return the simulated time until the next frame [s]; inf if the rate is 0."""
        if self._rate <= 0:
            return math.inf
        return 0.0 if self.is_due(time) else (self._index(time) + 1) / self._rate - time

    def _index(self, time: float) -> int:
        return math.floor(time * self._rate + _ROUNDING)
