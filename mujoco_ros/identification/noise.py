"""Noise of sampled signals, estimated from the signals themselves."""

import numpy as np

_DIFFERENCES = 3
_GAIN = np.sqrt(20.0)
"""Deviation of the third difference of white noise of deviation 1: 1, -3, 3, -1 squared."""
_MAD = 1.4826
"""Deviation of a normal distribution over its median absolute deviation."""
_FLOOR = 1e-5
"""Least noise over the deviation of the signal; a simulation without noise has none."""


def noise_of(samples: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the white noise in signals.

    Third differences of a smooth signal vanish, and those of noise do not. The median is
    insensitive to jumps, as at a reversal with dry friction. The noise is at least that of rounding
    to the smallest difference between two samples.

    Args:
        samples: Signals, evenly sampled.  # (n, k)

    Returns:
        Deviation of each; NaN of a signal with a NaN.  # (k,)
    """
    differences = np.abs(np.diff(samples, _DIFFERENCES, axis=0))
    noise = _MAD * np.median(differences, axis=0) / _GAIN
    least = _FLOOR * samples.std(axis=0)
    # Third differences of coarse samples at a high rate are zero: the error of rounding remains.
    steps = np.abs(np.diff(samples, axis=0))
    step = np.min(np.where(steps > 0.0, steps, np.inf), axis=0, initial=np.inf)
    rounding = np.where(np.isfinite(step), step, 0.0) / np.sqrt(12.0)
    floor = np.maximum(np.maximum(least, rounding), np.finfo(float).tiny)
    result: np.ndarray = np.maximum(noise, floor)
    return result
