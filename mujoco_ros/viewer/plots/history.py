"""The latest samples of a signal."""

import numpy as np

_CAPACITY = 1 << 17  # samples of two minutes at 1 kHz: of one minute, none is dropped


class History:
    """Stores samples of a time span in bounded memory, oldest first.

    A full table drops the samples before the span; if these are less than half of all, it drops
    every second sample.
    """

    def __init__(self, curves: int, span_s: float, capacity: int = _CAPACITY) -> None:
        """Store at most `capacity` samples of `curves` values each, for `span_s` seconds."""
        self.curves = curves  # number of values of a sample
        self._table = np.empty((curves + 1, capacity))
        self._span_s = span_s
        self._end = 0
        self.cuts = 0  # how often samples have been replaced by others of the same times

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
            self._cut(0)
        if self._end == self._table.shape[1]:
            self._drop_samples(time)
        self._table[0, self._end] = time
        self._table[1:, self._end] = values
        self._end += 1

    def drop_from(self, time: float) -> None:
        """Drop the samples from a time on [s]."""
        self._cut(int(np.searchsorted(self.times, time)))

    def between(self, begin: float, end: float, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the samples after `begin` until `end` [s], of all curves.  # (n,), (curves, n)

        More samples than `points` are grouped, and the extreme values of each group returned, in
        their order, at times that all curves share: its first and its last one.
        """
        first, last = np.searchsorted(self.times, (begin, end), side="right")
        times, values = self._table[0, first:last], self._table[1:, first:last]
        size = -(-2 * len(times) // points)  # of a group
        if size <= 2:
            return times, values
        whole = len(times) // size * size
        groups = values[:, :whole].reshape(len(values), -1, size)
        at = np.sort(np.stack([groups.argmin(axis=2), groups.argmax(axis=2)], axis=2), axis=2)
        extremes = np.take_along_axis(groups, at, axis=2).reshape(len(values), -1)
        shared = times[:whole].reshape(-1, size)[:, [0, -1]].reshape(-1)
        return (
            np.concatenate([shared, times[whole:]]),
            np.concatenate([extremes, values[:, whole:]], axis=1),
        )

    def _cut(self, end: int) -> None:
        self.cuts += end < self._end
        self._end = end

    def _drop_samples(self, time: float) -> None:
        first = int(np.searchsorted(self.times, time - self._span_s))
        stride = 1 if first >= self._end // 2 else 2
        kept = np.arange(first, self._end, stride)
        self._end = kept.size
        self._table[:, : self._end] = self._table[:, kept]
