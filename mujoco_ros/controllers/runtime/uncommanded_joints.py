"""The joints that a controller has not commanded yet."""

import numpy as np


class UncommandedJoints:
    """Removes the references of joints that the controller has not changed since its start.

    The first references of a controller are the measured positions. The previous command of a
    loaded joint differs from its measured position: with the measured position as reference, an arm
    would sag and a gripper would open.
    """

    def __init__(self, q: np.ndarray) -> None:
        """Start at the measured positions.  # (n,)"""
        self._first = np.zeros((3, len(q)))
        self._first[0] = q
        self._set_joints(np.arange(len(q)))

    def mask(self, values: np.ndarray) -> np.ndarray:
        """Return references of all joints, NaN for those without a command so far.  # (3, n)"""
        if not len(self._joints):
            return values
        references = values[:, self._joints]
        if references.tobytes() != self._first_bytes:  # equal at most ticks
            changed = (references != self._first[:, self._joints]) & ~np.isnan(references)
            self._set_joints(self._joints[~changed.any(axis=0)])
        masked = values.copy()
        masked[:, self._joints] = np.nan
        return masked

    def _set_joints(self, joints: np.ndarray) -> None:
        self._joints = joints
        self._first_bytes = self._first[:, joints].tobytes()
