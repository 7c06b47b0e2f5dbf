"""The last seconds of something that is measured."""

import numpy as np


class History:
    """Keeps the newest samples, in the order in which they came, without copying each time.

    A table twice as long as what is kept is filled from the start; when it is full, the newest
    half moves to the front.
    """

    def __init__(self, curves: int, kept: int = 4000) -> None:
        """Keep so many samples of so many values each."""
        self._table = np.empty((curves + 1, 2 * kept))
        self._kept = kept
        self._end = 0

    @property
    def times(self) -> np.ndarray:
        """Times of the samples [s].  # (n,)"""
        return self._table[0, self._start : self._end]

    def curve(self, index: int) -> np.ndarray:
        """Return the values of a curve.  # (n,)"""
        return self._table[index + 1, self._start : self._end]

    def add(self, time: float, values: np.ndarray) -> None:
        """Take a sample; one that is not later than the last starts anew."""
        if self._end and time <= self._table[0, self._end - 1]:
            if time == self._table[0, self._end - 1]:
                return
            self._end = 0
        if self._end == self._table.shape[1]:
            self._table[:, : self._kept] = self._table[:, self._kept :]
            self._end = self._kept
        self._table[0, self._end] = time
        self._table[1:, self._end] = values
        self._end += 1

    @property
    def _start(self) -> int:
        return max(self._end - self._kept, 0)
