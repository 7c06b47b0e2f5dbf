"""Which joints a controller has told something yet."""

import numpy as np


class UncommandedJoints:
    """Keeps what a controller begins with from the joints until it tells them something else.

    Its first references are the measured positions. A joint that carries something is told more
    than where it is, by whoever commanded it before: sent back to where it is, it would sag, and a
    gripper would let go.
    """

    def __init__(self) -> None:
        """Have no joints."""
        self._first = np.empty((3, 0))
        self._joints = np.empty(0, dtype=np.intp)
        self._as_first = b""

    def begin(self, q: np.ndarray) -> None:
        """Begin anew, at measured positions.  # (n,)"""
        self._first = np.zeros((3, len(q)))
        self._first[0] = q
        self._keep(np.arange(len(q)))

    def hide(self, values: np.ndarray) -> np.ndarray:
        """Return references of all joints, NaN for those told nothing new so far.  # (3, n)"""
        if not len(self._joints):
            return values
        told = values[:, self._joints]
        if told.tobytes() != self._as_first:  # at most ticks nothing is new
            new = (told != self._first[:, self._joints]) & ~np.isnan(told)
            self._keep(self._joints[~new.any(axis=0)])
        hidden = values.copy()
        hidden[:, self._joints] = np.nan
        return hidden

    def _keep(self, joints: np.ndarray) -> None:
        """Keep the first references of `joints` from them, and of no others."""
        self._joints = joints
        self._as_first = self._first[:, joints].tobytes()
