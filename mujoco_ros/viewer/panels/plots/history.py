"""The latest samples of a signal."""

import numpy as np


class History:
    """Stores samples of a time span in bounded memory, oldest first.

    A full table drops the samples before the span; if these are less than half of all, it drops
    every second sample.
    """

    def __init__(self, curves: int, span_s: float, capacity: int = 8000) -> None:
        """Store at most `capacity` samples of `curves` values each, for `span_s` seconds."""
        self._table = np.empty((curves + 1, capacity))
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
        """Add a sample unless it has the time of the last one; an earlier time starts again."""
        if self._end and time <= self._table[0, self._end - 1]:
            if time == self._table[0, self._end - 1]:
                return
            self._end = 0
        if self._end == self._table.shape[1]:
            self._drop_samples(time)
        self._table[0, self._end] = time
        self._table[1:, self._end] = values
        self._end += 1

    def _drop_samples(self, time: float) -> None:
        first = int(np.searchsorted(self.times, time - self._span_s))
        stride = 1 if first >= self._end // 2 else 2
        kept = np.arange(first, self._end, stride)
        self._end = kept.size
        self._table[:, : self._end] = self._table[:, kept]
