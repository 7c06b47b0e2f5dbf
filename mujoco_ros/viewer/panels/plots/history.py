"""The last seconds of something that is measured."""

import numpy as np


class History:
    """Keeps samples of a span of time, in the order in which they came, in bounded memory.

    A table is filled from the start. When it is full, what is older than the span is let go; if
    that is less than half of it, every second sample goes.
    """

    def __init__(self, curves: int, span_s: float, room: int = 8000) -> None:
        """Keep samples of so many values each for so long [s], and so many of them at most."""
        self._table = np.empty((curves + 1, room))
        self._span_s = span_s
        self._end = 0

    @property
    def times(self) -> np.ndarray:
        """Times of the samples [s].  # (n,)"""
        return self._table[0, : self._end]

    def curve(self, index: int) -> np.ndarray:
        """Return the values of a curve.  # (n,)"""
        return self._table[index + 1, : self._end]

    def add(self, time: float, values: np.ndarray) -> None:
        """Take a sample; one that is not later than the last starts anew."""
        if self._end and time <= self._table[0, self._end - 1]:
            if time == self._table[0, self._end - 1]:
                return
            self._end = 0
        if self._end == self._table.shape[1]:
            self._make_room(time)
        self._table[0, self._end] = time
        self._table[1:, self._end] = values
        self._end += 1

    def _make_room(self, time: float) -> None:
        first = int(np.searchsorted(self.times, time - self._span_s))
        every = 1 if first >= self._end // 2 else 2
        kept = np.arange(first, self._end, every)
        self._end = kept.size
        self._table[:, : self._end] = self._table[:, kept]
