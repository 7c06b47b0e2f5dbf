"""Consecutive indices as slices."""

import numpy as np


def as_slice(indices: np.ndarray) -> slice | np.ndarray:
    """Return consecutive `indices` as a slice, which NumPy reads without a copy; others as is."""
    if not len(indices) or (np.diff(indices) != 1).any():
        return indices
    return slice(int(indices[0]), int(indices[-1]) + 1)
