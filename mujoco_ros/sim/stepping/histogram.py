"""Percentiles of durations at a constant cost per sample."""

from array import array

import numpy as np


class Histogram:
    """Counts durations in bins of 1 µs up to `limit_us`; longer ones land in the last bin."""

    def __init__(self, limit_us: int = 20_000) -> None:
        self._limit = limit_us
        # An element of an array of Python is increased in half the time of one of NumPy.
        self._cells = array("q", bytes(8 * (limit_us + 1)))
        self._counts = np.frombuffer(self._cells, dtype=np.int64)
        self._cumulative = np.zeros_like(self._counts)

    def add(self, duration_s: float) -> None:
        """Count one duration [s]."""
        index = int(duration_s * 1e6)
        self._cells[index if 0 <= index < self._limit else self._limit] += 1

    def percentiles(self, *percents: float) -> tuple[float, ...]:
        """Return percentiles [s], each the upper edge of its bin; NaN while empty."""
        cumulative = np.cumsum(self._counts, out=self._cumulative)
        if not cumulative[-1]:
            return (float("nan"),) * len(percents)
        # Integers, or all counts would be converted.
        ranks = np.ceil(np.asarray(percents) / 100.0 * cumulative[-1]).astype(np.int64)
        return tuple(float(b + 1) * 1e-6 for b in np.searchsorted(cumulative, ranks))

    def clear(self) -> None:
        """Discard all counts."""
        self._counts[:] = 0
