"""How fast a curve can be passed, within the limits of the joints and of the tool."""

import numpy as np
from scipy.interpolate import BSpline

from mujoco_ros.controllers.planning.curves.curve import cubics, ends
from mujoco_ros.controllers.planning.curves.reachability import Bounded, fastest
from mujoco_ros.controllers.planning.curves.timed_curve import TimedCurve
from mujoco_ros.controllers.planning.errors import TimingError
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits

_POINTS, _FEWEST = 100, 2
"""Where limits are looked at: on the whole curve, and between two of its knots."""
_SAMPLES = 8
"""Between two points."""
_ROOM = 1.001
"""So much slower than the limits allow, for what happens between two samples."""
_SLOWER = np.geomspace(1.0, 1e3, 700)
"""How much slower friction may make a motion; each is a hundredth more than the one before."""
_MOST = 1e6
"""Stands for no limit."""


def time_curve(
    curve: BSpline,
    limits: MotionLimits,
    *,
    dynamics: Dynamics | None = None,
    speed: float = np.inf,
    acceleration: float = np.inf,
) -> TimedCurve:
    """Return the fastest way of passing a curve, from rest to rest.

    Args:
        curve: Positions by parameter.
        limits: Of the joints.
        dynamics: Tells the torques; needed if these are limited.
        speed: Limit to the parameter's rate of change: that of the tool, if it is a length [1/s].
        acceleration: Likewise [1/s²].

    Raises:
        TimingError: A motor cannot hold still somewhere on the curve, which the message names, or
            the solver fails.
    """
    where = _grid(curve)
    first, second = (curve(where, nu=order) for order in (1, 2))
    along = np.ones((len(where), 1))
    swing = along * np.append(limits.acceleration, min(acceleration, _MOST))
    bounded = [
        Bounded(np.hstack([first, along]), np.hstack([second, 0.0 * along]), -swing, swing),
    ]
    if limits.torque is not None and dynamics is not None:
        bounded.append(_torques(dynamics, limits.torque, curve(where), first, second))
    hurry = (np.abs(first) / limits.velocity).max(axis=1)
    most = 1.0 / np.maximum(hurry, 1.0 / min(speed, _MOST))
    rate = fastest(where, most, *bounded)
    if rate is None:
        raise TimingError("no way of passing the curve within the limits was found")
    trajectory = TimedCurve.passing(*cubics(curve), where, rate)
    return trajectory.slower(_excess(trajectory, limits, dynamics))


def _grid(curve: BSpline) -> np.ndarray:
    """Return where to look at the limits: evenly, in each stretch between two knots.  # (m,)."""
    begin, end = ends(curve)
    knots = np.unique(curve.t)
    counts = np.maximum(_FEWEST, np.ceil(_POINTS * np.diff(knots) / (end - begin))).astype(int)
    stretches = zip(knots[:-1], knots[1:], counts, strict=True)
    inner = [np.linspace(a, b, count, endpoint=False) for a, b, count in stretches]
    return np.append(np.concatenate(inner), end)


def _torques(
    dynamics: Dynamics, limit: np.ndarray, q: np.ndarray, first: np.ndarray, second: np.ndarray
) -> Bounded:
    """Return what torques the motion takes, all but those of friction: no matter of squares."""
    zero = np.zeros_like(q[0])
    still = np.array([dynamics.rigid(at, zero, zero) for at in q])
    _check_strength(still, limit, dynamics)
    by_acceleration = np.array([dynamics.rigid(*it) for it in zip(q, 0.0 * q, first, strict=True)])
    by_square = np.array([dynamics.rigid(*it) for it in zip(q, first, second, strict=True)])
    return Bounded(by_acceleration - still, by_square - still, -limit - still, limit - still)


def _excess(trajectory: TimedCurve, limits: MotionLimits, dynamics: Dynamics | None) -> float:
    """Return how much slower it must be to keep the limits between the points too; 1 or more."""
    points = len(trajectory.times)
    times = np.interp(np.arange(_SAMPLES * points) / _SAMPLES, np.arange(points), trajectory.times)
    _, dq, ddq = trajectory.samples(times)
    fast = float((np.abs(dq) / limits.velocity).max())
    bent = float((np.abs(ddq) / limits.acceleration).max())
    factor = max(1.0, fast, float(np.sqrt(bent)))
    if limits.torque is not None and dynamics is not None:
        samples = trajectory.samples(times[::_SAMPLES])
        factor *= _strain(samples, limits.torque, dynamics)
    return _ROOM * factor


def _strain(samples: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> float:
    """Return how much slower it must be for the motors to bear friction as well."""
    full = np.array([dynamics.torques(*now) for now in zip(*samples, strict=True)])
    if (np.abs(full) <= limit).all():
        return 1.0
    still = np.array([dynamics.gravity(q) for q in samples[0]])
    _check_strength(still, limit, dynamics)
    friction = dynamics.friction * samples[1]
    for factor in _SLOWER:
        slow = still + friction / factor + (full - still - friction) / factor**2
        if (np.abs(slow) <= limit).all():
            return float(factor)
    raise TimingError(_weakest(still, limit, dynamics))


def _check_strength(still: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> None:
    """Refuse a curve on which a motor cannot even hold still: only that makes it impossible."""
    if (np.abs(still) >= limit).any():
        raise TimingError(_weakest(still, limit, dynamics))


def _weakest(still: np.ndarray, limit: np.ndarray, dynamics: Dynamics) -> str:
    """Say which motor has the least left for moving."""
    most = np.abs(still).max(axis=0)
    joint = int(np.argmax(most / limit))
    return (
        f"{dynamics.chain.names[joint]} is too weak: standing still takes up to "
        f"{most[joint]:.1f} of its {limit[joint]:.1f} N m"
    )
