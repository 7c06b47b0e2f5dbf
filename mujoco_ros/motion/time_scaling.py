"""How fast a curve can be passed: TOPP-RA."""

import logging

import numpy as np
from scipy.interpolate import BSpline
from toppra.algorithm import TOPPRA
from toppra.constraint import (
    DiscretizationType,
    JointAccelerationConstraint,
    JointTorqueConstraint,
    JointVelocityConstraint,
)
from toppra.interpolator import AbstractGeometricPath

from mujoco_ros.motion.curve import cubics, ends
from mujoco_ros.motion.dynamics import Dynamics
from mujoco_ros.motion.errors import TimingError
from mujoco_ros.motion.limits import Limits
from mujoco_ros.motion.trajectory import Trajectory

_POINTS = 100
_SAMPLES = 400
_ROOM = 1.001
"""So much slower than the limits allow, for what happens between two samples."""
_SLOWEST, _SLOWER = 3.0, 0.01
"""How much slower friction may make a motion, and in what steps to look."""
_MOST = 1e6
"""Stands for no limit; the solver wants numbers."""

# A failure is an error with a reason of its own.
logging.getLogger("toppra").setLevel(logging.CRITICAL)


def time_curve(
    curve: BSpline,
    limits: Limits,
    *,
    dynamics: Dynamics | None = None,
    speed: float = np.inf,
    acceleration: float = np.inf,
) -> Trajectory:
    """Return the fastest way of passing a curve, from rest to rest.

    Args:
        curve: Positions by parameter.
        limits: Of the joints.
        dynamics: Tells the torques; needed if these are limited.
        speed: Limit to the parameter's rate of change: that of the tool, if it is a length [1/s].
        acceleration: Likewise [1/s²].

    Raises:
        TimingError: The limits cannot be kept, however slow; the message says which.
    """
    begin, end = ends(curve)
    path = _Path(curve, begin, end)
    velocity = np.append(limits.velocity, min(speed, _MOST))
    bend = np.append(limits.acceleration, min(acceleration, _MOST))
    constraints = [
        JointVelocityConstraint(_both_ways(velocity)),
        JointAccelerationConstraint(_both_ways(bend), DiscretizationType.Interpolation),
    ]
    if limits.torque is not None and dynamics is not None:
        constraints.append(_torques(dynamics, limits))
    where = _grid(curve, begin, end)
    solver = TOPPRA(constraints, path, gridpoints=where, solver_wrapper="seidel")
    _, rate, _ = solver.compute_parameterization(0.0, 0.0)
    if rate is None or not np.isfinite(rate).all() or not (rate[1:-1] > 0).all():
        raise TimingError(_reason(curve, limits, dynamics))
    trajectory = Trajectory.passing(*cubics(curve), where, rate)
    return trajectory.slower(_excess(trajectory, limits, dynamics))


def _grid(curve: BSpline, begin: float, end: float) -> np.ndarray:
    """Return where to look at the limits: evenly, in each stretch between two knots.  # (m,)."""
    knots = np.unique(curve.t)
    counts = np.ceil(_POINTS * np.diff(knots) / (end - begin)).astype(int)
    stretches = zip(knots[:-1], knots[1:], counts, strict=True)
    inner = [np.linspace(a, b, count, endpoint=False) for a, b, count in stretches]
    return np.append(np.concatenate(inner), end)


def _torques(dynamics: Dynamics, limits: Limits) -> JointTorqueConstraint:
    """Return the limit to torques, all but those of friction, which are no matter of squares."""
    assert limits.torque is not None
    free = np.zeros(1)

    def rigid(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        return np.concatenate([dynamics.rigid(q[:-1], dq[:-1], ddq[:-1]), free])

    bound = _both_ways(np.append(limits.torque, _MOST))
    return JointTorqueConstraint(
        rigid, bound, np.zeros(len(bound)), DiscretizationType.Interpolation
    )


def _both_ways(limit: np.ndarray) -> np.ndarray:
    return np.stack([-limit, limit], axis=1)


def _excess(trajectory: Trajectory, limits: Limits, dynamics: Dynamics | None) -> float:
    """Return how much slower it must be to keep the limits between the points too; 1 or more."""
    times = np.linspace(0.0, trajectory.duration, _SAMPLES)
    _, dq, ddq = trajectory.samples(times)
    fast = float((np.abs(dq) / limits.velocity).max())
    bent = float((np.abs(ddq) / limits.acceleration).max())
    factor = max(1.0, fast, float(np.sqrt(bent)))
    if limits.torque is not None and dynamics is not None:
        samples = trajectory.samples(times[:: _SAMPLES // _POINTS])
        factor *= _strain(samples, limits.torque, dynamics)
    return _ROOM * factor


def _strain(samples: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> float:
    """Return how much slower it must be for the motors to bear friction as well."""
    full = np.array([dynamics.torques(*now) for now in zip(*samples, strict=True)])
    if (np.abs(full) <= limit).all():
        return 1.0
    still = np.array([dynamics.gravity(q) for q in samples[0]])
    friction = dynamics.friction * samples[1]
    for factor in np.arange(1.0, _SLOWEST, _SLOWER):
        slow = still + friction / factor + (full - still - friction) / factor**2
        if (np.abs(slow) <= limit).all():
            return float(factor)
    raise TimingError(_weakest(still, limit, dynamics))


def _reason(curve: BSpline, limits: Limits, dynamics: Dynamics | None) -> str:
    if limits.torque is None or dynamics is None:
        return "the limits of velocity and acceleration allow no way of passing the curve"
    where = np.linspace(*ends(curve), _POINTS)
    return _weakest(np.array([dynamics.gravity(q) for q in curve(where)]), limits.torque, dynamics)


def _weakest(still: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> str:
    """Say which motor has the least left for moving."""
    most = np.abs(still).max(axis=0)
    joint = int(np.argmax(most / limit))
    return (
        f"{dynamics.chain.names[joint]} is too weak: standing still takes up to "
        f"{most[joint]:.1f} of its {limit[joint]:.1f} N m"
    )


class _Path(AbstractGeometricPath):
    """A curve as the solver wants it, with its parameter as one joint more: that has limits too."""

    def __init__(self, curve: BSpline, begin: float, end: float) -> None:
        self._curves = [curve, curve.derivative(1), curve.derivative(2)]
        self._interval = np.array([begin, end])

    def __call__(self, at: np.ndarray, order: int = 0) -> np.ndarray:
        at = np.asarray(at, dtype=float)
        own = (at, np.ones_like(at), np.zeros_like(at))[order]
        return np.concatenate([self._curves[order](at), own[..., None]], axis=-1)

    @property
    def dof(self) -> int:
        return int(self._curves[0].c.shape[1]) + 1

    @property
    def path_interval(self) -> np.ndarray:
        return self._interval

    @property
    def waypoints(self) -> None:
        return None
