"""Fastest motion along a curve: TOPP-RA, with bounds that are evaluated at all points at once."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from toppra.algorithm import TOPPRA
from toppra.constraint import LinearConstraint, canlinear_colloc_to_interpolate
from toppra.interpolator import SplineInterpolator

# A failure raises a TimingError with its own reason.
logging.getLogger("toppra").setLevel(logging.CRITICAL)


class RateBound(NamedTuple):
    """Bounds of ``first u + second x²``, with the rate x of the parameter and its acceleration u.

    Attributes:
        first: Factors of u.  # (n, m)
        second: Factors of x².  # (n, m)
        low: Lower bounds, all negative.  # (n, m)
        high: Upper bounds, all positive.  # (n, m)
    """

    first: np.ndarray
    second: np.ndarray
    low: np.ndarray
    high: np.ndarray


def fastest_rates(
    parameters: np.ndarray, max_rates: np.ndarray, *bounds: RateBound
) -> np.ndarray | None:
    """Return the largest rates of a curve's parameter at some points, from rest to rest.

    The acceleration of the parameter is constant between two points. The bounds hold at both ends
    of each stretch. The `parameters` (n,) increase.

    Returns:
        Rates at the points, 0 at both ends [1/s]; None if the solver fails.  # (n,)
    """
    constraint = _Constraint(max_rates, bounds)
    # The solver needs only the first and the last parameter of the curve itself.
    line = SplineInterpolator(parameters[[0, -1]], parameters[[0, -1]])
    solver = TOPPRA([constraint], line, gridpoints=parameters, solver_wrapper="seidel")
    _, rates, _ = solver.compute_parameterization(0.0, 0.0)
    if rates is None or not np.isfinite(rates).all() or not (rates[1:-1] > 0.0).all():
        return None
    return np.asarray(rates)


class _Constraint(LinearConstraint):
    """All bounds, normalized to ±1 around the middle of each."""

    def __init__(self, max_rates: np.ndarray, bounds: Sequence[RateBound]) -> None:
        super().__init__()
        self.identical = True
        self._squares = np.stack([np.zeros_like(max_rates), max_rates**2], axis=1)
        first, second, low, high = (np.concatenate(it, axis=1) for it in zip(*bounds, strict=True))
        half = 0.5 * (high - low)
        self._rows = first / half, second / half, -0.5 * (low + high) / half

    def compute_constraint_params(
        self, path: SplineInterpolator, gridpoints: np.ndarray
    ) -> tuple[np.ndarray | None, ...]:
        """Return the solver's matrices, so that the bounds hold at both ends of each stretch."""
        one = np.eye(self._rows[0].shape[1])
        both, limits = np.vstack([one, -one]), np.ones(2 * len(one))
        result: tuple[np.ndarray | None, ...] = canlinear_colloc_to_interpolate(
            *self._rows, both, limits, None, self._squares, gridpoints, identical=True
        )
        return result
