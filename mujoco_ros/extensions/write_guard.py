"""What extensions may write to the state: restored if it is not finite."""

import math
from collections.abc import Callable
from ctypes import c_int
from functools import cache

import mujoco
import numpy as np

from mujoco_ros.sim.state.state_vector import state_fields

_GAP = 64
"""Alignment of the arrays of MjData [bytes]."""


@cache
def finite_check() -> Callable[[np.ndarray], bool]:
    """Return a function that reports whether all numbers are finite, and no larger than 1e150.

    Its argument is an array of floats that is contiguous and not empty.
    """
    # Of BLAS: NumPy's takes twice as long, and warns of an overflow. The import takes 0.1 s.
    from scipy.linalg.blas import ddot

    def is_finite(array: np.ndarray) -> bool:
        # The square of a number that is not finite is not finite either.
        return math.isfinite(ddot(array, array))

    return is_finite


class WriteGuard:
    """Keeps a copy of what the next step reads, to undo what is not finite.

    Attributes:
        busy: Not zero while the copy is in use: a method of an extension is being called.
    """

    def __init__(self, data: mujoco.MjData) -> None:
        """Guard the state of a model, which must be finite now."""
        # What the next step reads, but the time, and what is no number but a switch.
        names = [it.name for it in state_fields(data.model, data) if it.bit and it.shape]
        arrays = {name: getattr(data, name, None) for name in names}
        self._arrays = {
            name: array.reshape(-1)
            for name, array in arrays.items()
            if array is not None and array.dtype == np.float64
        }
        self.busy = c_int(0)
        spans = _spans([array for array in self._arrays.values() if array.size])
        self._is_finite = finite_check()
        self._spans = [(span, span.copy()) for span in spans]

    def save(self) -> None:
        """Keep the present state."""
        for span, saved in self._spans:
            saved[:] = span

    def restore(self) -> None:
        """Return to the state that was kept."""
        for span, saved in self._spans:
            span[:] = saved

    def is_finite(self) -> bool:
        """Whether all numbers are finite, and no larger than 1e150."""
        for span, _ in self._spans:  # noqa: SIM110 - a generator costs as much as the check
            if not self._is_finite(span):
                return False
        return True

    def was_finite(self) -> bool:
        """Whether all numbers that were kept are finite, and no larger than 1e150."""
        return all(self._is_finite(saved) for _, saved in self._spans)

    def culprit(self) -> str:
        """Return the first number that is not finite, as ``qpos[3] = nan``; empty for none."""
        for name, array in self._arrays.items():
            for index in np.flatnonzero(~np.isfinite(array) | (np.abs(array) > 1e150)):
                return f"{name}[{index}] = {array[index]}"
        return ""


def _spans(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return the memory of arrays, with those next to each other in one: fewer calls."""
    spans: list[np.ndarray] = []
    for array in sorted(arrays, key=_address):
        if spans and 0 <= _address(array) - _address(spans[-1]) - spans[-1].nbytes < _GAP:
            length = (_address(array) - _address(spans[-1])) // 8 + len(array)
            joined = np.lib.stride_tricks.as_strided(spans[-1], (length,), (8,))
            if np.isfinite(joined).all():  # also the bytes between them, which nothing writes
                spans[-1] = joined
                continue
        spans.append(array)
    return spans


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)
