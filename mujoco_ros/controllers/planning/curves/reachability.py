"""The fastest way of passing a curve: TOPP-RA, on bounds that were found for all points at once."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from toppra.algorithm import TOPPRA
from toppra.constraint import LinearConstraint, canlinear_colloc_to_interpolate
from toppra.interpolator import SplineInterpolator

# A failure is an error with a reason of its own.
logging.getLogger("toppra").setLevel(logging.CRITICAL)


class Bounded(NamedTuple):
    """Something that depends on how the curve is passed: ``first u + second x²``.

    Attributes:
        first: What accelerating takes.  # (n, m)
        second: What going on takes.  # (n, m)
        low: Lower bounds, all negative.  # (n, m)
        high: Upper bounds, all positive.  # (n, m)
    """

    first: np.ndarray
    second: np.ndarray
    low: np.ndarray
    high: np.ndarray


def fastest(where: np.ndarray, most: np.ndarray, *bounded: Bounded) -> np.ndarray | None:
    """Return how fast to go at some points of a curve, from rest to rest.

    The rate of the curve's parameter is x; its acceleration u is constant between two points. What
    is bounded is so at both ends of each stretch.

    Args:
        where: The parameters of the points, rising.  # (n,)
        most: Largest rates.  # (n,)
        bounded: At all of the points.

    Returns:
        Rates at the points, 0 at both ends [1/s]; None if the solver finds none.  # (n,)
    """
    constraint = _Constraint(most, bounded)
    # All that the solver wants to know of the curve itself is where it begins and ends.
    line = SplineInterpolator(where[[0, -1]], where[[0, -1]])
    solver = TOPPRA([constraint], line, gridpoints=where, solver_wrapper="seidel")
    _, rates, _ = solver.compute_parameterization(0.0, 0.0)
    if rates is None or not np.isfinite(rates).all() or not (rates[1:-1] > 0.0).all():
        return None
    return np.asarray(rates)


class _Constraint(LinearConstraint):
    """All that is bounded, as parts of what is free to both sides."""

    def __init__(self, most: np.ndarray, bounded: Sequence[Bounded]) -> None:
        super().__init__()
        self.identical = True
        self._squares = np.stack([np.zeros_like(most), most**2], axis=1)
        first, second, low, high = (
            np.concatenate(them, axis=1) for them in zip(*bounded, strict=True)
        )
        free = 0.5 * (high - low)
        self._rows = first / free, second / free, -0.5 * (low + high) / free

    def compute_constraint_params(
        self, path: SplineInterpolator, gridpoints: np.ndarray
    ) -> tuple[np.ndarray | None, ...]:
        """Return what the solver asks for, so that it holds at both ends of each stretch."""
        one = np.eye(self._rows[0].shape[1])
        both, room = np.vstack([one, -one]), np.ones(2 * len(one))
        result: tuple[np.ndarray | None, ...] = canlinear_colloc_to_interpolate(
            *self._rows, both, room, None, self._squares, gridpoints, identical=True
        )
        return result
