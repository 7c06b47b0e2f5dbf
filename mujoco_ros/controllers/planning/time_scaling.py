"""Time scaling: the fastest motion along a curve within the limits of joints (TOPP-RA)."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline
from toppra.algorithm import TOPPRA
from toppra.constraint import LinearConstraint, canlinear_colloc_to_interpolate
from toppra.interpolator import SplineInterpolator

from mujoco_ros.controllers.planning.curve import TimedCurve, parameter_range, piecewise_cubics
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits, TimingError

# A failure raises a TimingError with its own reason.
logging.getLogger("toppra").setLevel(logging.CRITICAL)


class RateBound(NamedTuple):
    """Bounds of ``first u + second x²``, with the rate x of the parameter and its acceleration u.

    For each of n points there are m bounds, `low` negative and `high` positive.  # (n, m)
    """

    first: np.ndarray
    second: np.ndarray
    low: np.ndarray
    high: np.ndarray


def fastest_rates(
    parameters: np.ndarray, max_rates: np.ndarray, *bounds: RateBound
) -> np.ndarray | None:
    """Return the largest rates of a curve's parameter at some points, from rest to rest.  # (n,)

    The acceleration of the parameter is constant between two points. The bounds hold at both ends
    of each stretch. The `parameters` (n,) increase. None if the solver fails.
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
        first, second, low, high = (
            np.concatenate(arrays, axis=1) for arrays in zip(*bounds, strict=True)
        )
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


_POINTS, _MIN_POINTS = 100, 2
"""Number of points with bounds: on the whole curve, and at least between two knots."""
_SAMPLES = 8  # number of samples between two points
_RESERVE = 1.001  # factor on the duration, for the time between two samples
_SLOWDOWNS = np.geomspace(1.0, 1e3, 700)
"""Slowdowns because of friction, each one hundredth more than the previous one."""
_UNLIMITED = 1e6  # infinity for the solver


def time_curve(
    curve: BSpline,
    limits: MotionLimits,
    *,
    dynamics: Dynamics | None = None,
    speed: float = np.inf,
    acceleration: float = np.inf,
) -> TimedCurve:
    """Return the fastest motion along a curve of positions, from rest to rest.

    `speed` and `acceleration` are limits of the parameter's rate: of the tool's speed, if it is a
    length. TimingError if a motor cannot hold a configuration, or the solver fails.
    """
    at = _grid(curve)
    first, second = (curve(at, nu=order) for order in (1, 2))
    ones = np.ones((len(at), 1))
    swing = ones * np.append(limits.acceleration, min(acceleration, _UNLIMITED))
    bounds = [RateBound(np.hstack([first, ones]), np.hstack([second, 0.0 * ones]), -swing, swing)]
    if limits.torque is not None and dynamics is not None:
        bounds.append(_torque_bound(dynamics, limits.torque, curve(at), first, second))
    use = (np.abs(first) / limits.velocity).max(axis=1)
    max_rates = 1.0 / np.maximum(use, 1.0 / min(speed, _UNLIMITED))
    rates = fastest_rates(at, max_rates, *bounds)
    if rates is None:
        raise TimingError("no motion along the curve within the limits was found")
    trajectory = TimedCurve.from_rates(*piecewise_cubics(curve), at, rates)
    return trajectory.slowed(_slowdown(trajectory, limits, dynamics))


def _grid(curve: BSpline) -> np.ndarray:
    """Return the parameters of the points with bounds, even between two knots.  # (m,)."""
    begin, end = parameter_range(curve)
    knots = np.unique(curve.t)
    counts = np.maximum(_MIN_POINTS, np.ceil(_POINTS * np.diff(knots) / (end - begin))).astype(int)
    stretches = zip(knots[:-1], knots[1:], counts, strict=True)
    inner = [np.linspace(a, b, count, endpoint=False) for a, b, count in stretches]
    return np.append(np.concatenate(inner), end)


def _torque_bound(
    dynamics: Dynamics, limit: np.ndarray, q: np.ndarray, first: np.ndarray, second: np.ndarray
) -> RateBound:
    """Return the bound of the torques without friction, which is linear in x, not in x²."""
    zero = np.zeros_like(q[0])
    still = np.array([dynamics.rigid(at, zero, zero) for at in q])
    _check_strength(still, limit, dynamics)
    by_acceleration = np.array(
        [dynamics.rigid(*motion) for motion in zip(q, 0.0 * q, first, strict=True)]
    )
    by_square = np.array([dynamics.rigid(*motion) for motion in zip(q, first, second, strict=True)])
    return RateBound(by_acceleration - still, by_square - still, -limit - still, limit - still)


def _slowdown(trajectory: TimedCurve, limits: MotionLimits, dynamics: Dynamics | None) -> float:
    """Return the factor on the duration that keeps the limits between the points; 1 or more."""
    points = len(trajectory.times)
    times = np.interp(np.arange(_SAMPLES * points) / _SAMPLES, np.arange(points), trajectory.times)
    _, dq, ddq = trajectory.samples(times)
    by_velocity = float((np.abs(dq) / limits.velocity).max())
    by_acceleration = float((np.abs(ddq) / limits.acceleration).max())
    factor = max(1.0, by_velocity, float(np.sqrt(by_acceleration)))
    if limits.torque is not None and dynamics is not None:
        samples = trajectory.samples(times[::_SAMPLES])
        factor *= _torque_slowdown(samples, limits.torque, dynamics)
    return _RESERVE * factor


def _torque_slowdown(samples: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> float:
    """Return the factor on the duration that keeps the torques with friction in the limits."""
    full = np.array([dynamics.torques(*now) for now in zip(*samples, strict=True)])
    if (np.abs(full) <= limit).all():
        return 1.0
    still = np.array([dynamics.gravity(q) for q in samples[0]])
    _check_strength(still, limit, dynamics)
    friction = dynamics.friction * samples[1]
    for factor in _SLOWDOWNS:
        slow = still + friction / factor + (full - still - friction) / factor**2
        if (np.abs(slow) <= limit).all():
            return float(factor)
    raise TimingError(_weakest(still, limit, dynamics))


def _check_strength(still: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> None:
    """Reject a curve with a configuration that a motor cannot hold; a slower motion cannot help."""
    if (np.abs(still) >= limit).any():
        raise TimingError(_weakest(still, limit, dynamics))


def _weakest(still: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> str:
    """Return a message about the motor with the smallest reserve."""
    most = np.abs(still).max(axis=0)
    joint = int(np.argmax(most / limit))
    return (
        f"{dynamics.chain.names[joint]} is too weak: holding still requires up to "
        f"{most[joint]:.1f} of its {limit[joint]:.1f} N m"
    )
