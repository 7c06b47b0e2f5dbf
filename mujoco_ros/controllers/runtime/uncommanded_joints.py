"""The joints that a controller has not commanded yet."""

import numpy as np


class UncommandedJoints:
    """Removes the references of joints that the controller has not changed since its start.

    The first references of a controller are the measured positions. The previous command of a
    loaded joint differs from its measured position: with the measured position as reference, an arm
    would sag and a gripper would open. A joint that a state has released, by NaN, starts in the
    same way in the next state.

    Attributes:
        joints: Indices of these joints.
    """

    def __init__(self, q: np.ndarray) -> None:
        """Start at the measured positions.  # (n,)"""
        self._first = np.zeros((3, len(q)))
        self._first[0] = q
        self._released: np.ndarray | None = None  # at the last tick, if any  # (n,) bool
        self._set_joints(np.arange(len(q)))

    def mask(self, values: np.ndarray, q: np.ndarray, *, has_nan: bool) -> np.ndarray:
        """Return references of all joints, NaN for those without a command so far.

        Args:
            values: References of the controller; NaN releases a joint.  # (3, n)
            q: Measured positions.  # (n,)
            has_nan: Whether any of `values` is NaN.
        """
        if self._released is not None:
            self._start_again(self._released, values, q)
        self._released = None
        if has_nan:
            released = np.isnan(values).all(axis=0)
            self._released = released if released.any() else None
        if not len(self.joints):
            return values
        references = values[:, self.joints]
        if references.tobytes() != self._first_bytes:  # equal at most ticks
            changed = (references != self._first[:, self.joints]) & ~np.isnan(references)
            self._set_joints(self.joints[~changed.any(axis=0)])
        masked = values.copy()
        masked[:, self.joints] = np.nan
        return masked

    def _start_again(self, released: np.ndarray, values: np.ndarray, q: np.ndarray) -> None:
        """Add released joints whose references hold the measured positions now."""
        again = released & (values[0] == q) & (values[1:] == 0.0).all(axis=0)
        if again.any():
            self._first[0, again] = q[again]
            again[self.joints] = True
            self._set_joints(again.nonzero()[0])

    def _set_joints(self, joints: np.ndarray) -> None:
        self.joints = joints
        self._first_bytes = self._first[:, joints].tobytes()
