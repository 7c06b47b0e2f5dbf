"""Indices that follow one upon the other."""

import numpy as np


def as_slice(indices: np.ndarray) -> slice | np.ndarray:
    """Return indices as a slice where they are a run: NumPy then need not copy what they choose."""
    if not len(indices) or (np.diff(indices) != 1).any():
        return indices
    return slice(int(indices[0]), int(indices[-1]) + 1)
