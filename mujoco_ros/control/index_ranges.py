"""Consecutive indices as slices, and parts of arrays."""

import numpy as np


def as_slice(indices: np.ndarray) -> slice | np.ndarray:
    """Return consecutive `indices` as a slice, which NumPy reads without a copy; others as is."""
    if not len(indices) or (np.diff(indices) != 1).any():
        return indices
    return slice(int(indices[0]), int(indices[-1]) + 1)


class ArrayPart:
    """Elements of an array (n,), copied without an allocation."""

    def __init__(self, array: np.ndarray, indices: np.ndarray) -> None:
        """Select the elements at `indices` of an array that stays where it is.  # (k,)"""
        self._array, self._indices = array, indices
        run = as_slice(indices)
        self._view = array[run] if isinstance(run, slice) else None

    def read(self, out: np.ndarray) -> None:
        """Copy the elements to `out` (k,)."""
        if self._view is not None:
            out[:] = self._view
        else:
            # With "clip", NumPy writes without a buffer between; no index is out of range.
            self._array.take(self._indices, out=out, mode="clip")

    def write(self, values: np.ndarray) -> None:
        """Set the elements to `values` (k,)."""
        if self._view is not None:
            self._view[:] = values
        else:
            self._array[self._indices] = values
