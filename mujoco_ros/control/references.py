"""References of joints for the current step."""

from typing import Self

import numpy as np


def as_slice(indices: np.ndarray) -> slice | np.ndarray:
    """Return consecutive `indices` as a slice, which NumPy reads without a copy; others as is."""
    if not len(indices) or (np.diff(indices) != 1).any():
        return indices
    return slice(int(indices[0]), int(indices[-1]) + 1)


class References:
    """One reference per scalar joint; the PD law sums position, velocity and effort.

    Attributes:
        values: The three rows below in one array.  # (3, n)
        q: Position [rad or m].  # (n,)
        dq: Velocity [rad/s or m/s].  # (n,)
        tau: Feed-forward effort [Nm or N].  # (n,)
    """

    values: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    tau: np.ndarray

    def __init__(self, values: np.ndarray) -> None:
        """Use `values` without a copy."""
        self.rebind(values)

    @classmethod
    def holding(cls, q: np.ndarray) -> Self:
        """Return references that hold the positions `q`."""
        return cls(np.stack([q, np.zeros_like(q), np.zeros_like(q)]))

    def of_joints(self, joints: slice) -> "References":
        """Return a view of the references of some joints."""
        return References(self.values[:, joints])

    def rebind(self, values: np.ndarray) -> None:
        """Use other `values` (3, n) without a copy; views of the old ones become invalid."""
        self.values = values
        self.q, self.dq, self.tau = values

    def assign(self, other: "References") -> None:
        """Copy the values of `other`."""
        self.values[:] = other.values
