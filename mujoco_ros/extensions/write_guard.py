"""What extensions may write to the state: restored if it is not finite."""

import math
from collections.abc import Callable
from ctypes import c_int
from functools import cache

import mujoco
import numpy as np

_WRITABLE = (
    *("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied"),
    *("mocap_pos", "mocap_quat", "qacc_warmstart", "userdata"),
)
"""Arrays of MjData that the next step reads, and that hold numbers."""
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
        self._arrays = {name: getattr(data, name).reshape(-1) for name in _WRITABLE}
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
