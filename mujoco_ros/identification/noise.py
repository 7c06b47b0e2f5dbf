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
    insensitive to jumps, as at a reversal with dry friction.

    Args:
        samples: Signals, evenly sampled.  # (n, k)

    Returns:
        Deviation of each; NaN of a signal with a NaN.  # (k,)
    """
    differences = np.abs(np.diff(samples, _DIFFERENCES, axis=0))
    noise = _MAD * np.median(differences, axis=0) / _GAIN
    least = _FLOOR * samples.std(axis=0)
    result: np.ndarray = np.maximum(np.maximum(noise, least), np.finfo(float).tiny)
    return result
