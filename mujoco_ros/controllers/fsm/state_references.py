"""References that the states of a controller write; their arrays keep shape and type."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mujoco_ros.control.references import References

_ROWS = ("q", "dq", "tau")


class StateReferences(References):
    """References whose arrays cannot be replaced; an assignment copies the values.

    ``references.q = goal`` is ``references.q[:] = goal`` with a check of the shape, so that no
    state can change the arrays of the states after it.

    Attributes:
        robots: Of a controller of several robots, the references of each by the name in the table:
            views of the same numbers.
    """

    def __init__(self, values: np.ndarray) -> None:
        """Use `values` without a copy."""
        self._values = values
        self._rows: tuple[np.ndarray, ...] = tuple(values)
        self._shapes = (values.shape, *(row.shape for row in self._rows))
        self.robots: Mapping[str, StateReferences] = {}

    @property
    def values(self) -> np.ndarray:
        """The three rows below in one array.  # (3, n)"""
        return self._values

    @values.setter
    def values(self, values: Any) -> None:
        _copy("values", self._values, values)

    @property
    def q(self) -> np.ndarray:
        """Position [rad or m].  # (n,)"""
        return self._rows[0]

    @q.setter
    def q(self, values: Any) -> None:
        _copy("q", self._rows[0], values)

    @property
    def dq(self) -> np.ndarray:
        """Velocity [rad/s or m/s].  # (n,)"""
        return self._rows[1]

    @dq.setter
    def dq(self, values: Any) -> None:
        _copy("dq", self._rows[1], values)

    @property
    def tau(self) -> np.ndarray:
        """Feed-forward effort [Nm or N].  # (n,)"""
        return self._rows[2]

    @tau.setter
    def tau(self, values: Any) -> None:
        _copy("tau", self._rows[2], values)

    def rebind(self, values: np.ndarray) -> None:
        """Copy `values`; they must have the same shape."""
        self.values = values

    def check(self) -> None:
        """Check that the arrays are as at the start.

        Raises:
            ValueError: The shape or the type of an array was changed, or it was made read-only.
        """
        arrays = (self._values, *self._rows)
        for name, array, shape in zip(("values", *_ROWS), arrays, self._shapes, strict=True):
            if array.shape != shape or array.dtype != np.float64:
                raise ValueError(
                    f"references.{name} was changed to shape {array.shape} and type {array.dtype}; "
                    f"it is {shape} and float64"
                )
            if not array.flags.writeable:
                raise ValueError(f"references.{name} was made read-only")

    def replace_nan(self, q: np.ndarray) -> None:
        """Set values that are NaN to those of a controller's start: hold the measured `q`."""
        missing = np.isnan(self._values)
        if missing.any():
            held = np.zeros_like(self._values)
            held[0] = q
            np.copyto(self._values, held, where=missing)


def _copy(name: str, target: np.ndarray, values: Any) -> None:
    try:
        given = np.asarray(values)
        is_number = given.dtype.kind in "fiub"
    except (TypeError, ValueError):
        is_number = False
    if not is_number:
        raise TypeError(f"references.{name} is set to {type(values).__name__}, not to numbers")
    if given.shape != target.shape:
        raise ValueError(
            f"references.{name} is set to an array of shape {given.shape}, not {target.shape}"
        )
    target[:] = given
