"""The references that drives have at the steps of a simulation, from stamped commands."""

from typing import Literal

import numpy as np

Interpolation = Literal["hold", "linear"]


class DelayedReferences:
    """References of commands that arrive late by any time, as the mean over each step.

    With ``hold``, a command acts until the next one. The mean over a step is continuous in the
    delay, which a delay of whole steps would not be.
    """

    def __init__(self, times: np.ndarray, values: np.ndarray, interpolation: Interpolation) -> None:
        """Take commands.

        Args:
            times: Stamps, increasing [s].  # (m,)
            values: References at them.  # (m, c)
            interpolation: References between them.
        """
        self._times, self._values = times, values
        self._hold = interpolation == "hold"
        held = values[:-1] * np.diff(times)[:, None]
        self._integral = np.concatenate([np.zeros((1, values.shape[1])), held.cumsum(axis=0)])

    def at(self, begin: np.ndarray, timestep: float, delay: float) -> np.ndarray:
        """Return the references of steps.

        Args:
            begin: Times at which steps begin [s].  # (…,)
            timestep: Their duration [s].
            delay: Time from the stamp of a command until it acts [s].

        Returns:
            The references.  # (…, c)
        """
        if not self._hold:
            return self._interpolated(begin - delay, self._values)
        ends = self._integrated(begin + timestep - delay) - self._integrated(begin - delay)
        means: np.ndarray = ends / timestep
        return means

    def _integrated(self, times: np.ndarray) -> np.ndarray:
        """Return the integral of the references, which are held beyond both ends."""
        first, last = self._times[0], self._times[-1]
        before = np.minimum(times - first, 0.0)[..., None] * self._values[0]
        after = np.maximum(times - last, 0.0)[..., None] * self._values[-1]
        total: np.ndarray = self._interpolated(times, self._integral) + before + after
        return total

    def _interpolated(self, times: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Interpolate linearly; constant beyond both ends."""
        right = np.clip(np.searchsorted(self._times, times, "right"), 1, len(self._times) - 1)
        left = right - 1
        share = (times - self._times[left]) / (self._times[right] - self._times[left])
        share = np.clip(share, 0.0, 1.0)[..., None]
        result: np.ndarray = (1.0 - share) * values[left] + share * values[right]
        return result
