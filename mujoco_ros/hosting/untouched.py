"""Which joints a controller has told something yet."""

import numpy as np


class Untouched:
    """Keeps what a controller begins with from the joints until it tells them something else.

    Its first references are the measured positions. A joint that carries something is told more
    than where it is, by whoever commanded it before: sent back to where it is, it would sag, and a
    gripper would let go.
    """

    def __init__(self) -> None:
        """Have no joints."""
        self._first = np.empty((3, 0))
        self._touched = np.empty(0, dtype=bool)

    def begin(self, q: np.ndarray) -> None:
        """Begin anew, at measured positions.  # (n,)"""
        self._first = np.zeros((3, len(q)))
        self._first[0] = q
        self._touched = np.zeros(len(q), dtype=bool)

    def hide(self, values: np.ndarray) -> np.ndarray:
        """Return references of all joints, NaN for those told nothing new so far.  # (3, n)"""
        if self._touched.all():
            return values
        told = ~np.isnan(values)
        self._touched |= ((values != self._first) & told).any(axis=0)
        return np.where(self._touched, values, np.nan)
