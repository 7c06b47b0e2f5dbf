"""When frames are due, in simulated time."""

import math

_ROUNDING = 1e-6
"""Of a frame: times that are sums of time steps may lie this far below a frame's."""


class FrameRate:
    """Frames at a rate: the k-th is due at the first state at or after k / rate.

    They depend on the simulated time alone, so after a reset the same ones come again.
    """

    def __init__(self, rate: float) -> None:
        """Have `rate` frames per simulated second, none if it is 0."""
        self._rate = rate
        self._last: int | None = None

    @property
    def rate(self) -> float:
        """Frames per simulated second."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        self._rate = rate
        self.forget()

    def is_due(self, time: float) -> bool:
        """Return whether there is to be a frame of the state at a simulated time [s]."""
        if self._rate <= 0:
            return False
        index = self._index(time)
        if self._last is None:
            is_late = time * self._rate - index > _ROUNDING
            self._last = index if is_late else index - 1
        return index != self._last

    def take(self, time: float) -> None:
        """Note that there is a frame of the state at a simulated time [s]."""
        if self._rate > 0:
            self._last = self._index(time)

    def forget(self) -> None:
        """Begin anew, with the first frame that is not late already."""
        self._last = None

    def wait(self, time: float) -> float:
        """Return how much simulated time there is until the next frame [s]; infinite if never."""
        if self._rate <= 0:
            return math.inf
        return 0.0 if self.is_due(time) else (self._index(time) + 1) / self._rate - time

    def _index(self, time: float) -> int:
        return math.floor(time * self._rate + _ROUNDING)
