"""Smooth curves in joint space, and their timing."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import factorial

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from mujoco_ros.controllers.planning.collisions.collision_checker import (
    CollisionChecker,
    first_clear,
    refinement,
)
from mujoco_ros.controllers.planning.kinematics.limits import NoPathError

_DEGREE = 3
_MARGIN_SCALE = 0.5
"""Rounded corners keep half of the margin, like straight pieces between two checks."""
_MAX_DIVISIONS = 64  # limit of the divisions of a straight piece; corners are almost sharp then


def round_corners(corners: np.ndarray, checker: CollisionChecker) -> BSpline:
    """Return a smooth curve along straight pieces; its parameter is about the length.

    It is a cubic B-spline with control points on the pieces, so it stays within their hull, and in
    the joint limits, and has their ends. It has as few control points as keep half of the margin;
    with more, it is closer to the corners (m, k). NoPathError if there is a collision even close to
    the pieces.
    """
    parts = 1
    while parts <= _MAX_DIVISIONS:
        curve = _spline(_divided(corners, parts))
        if len(corners) == 2 or first_collision(curve, checker, _MARGIN_SCALE) is None:
            return curve
        parts *= 2
    raise NoPathError("the path that was found is too narrow for smooth corners")


def interpolate(points: np.ndarray, parameters: np.ndarray) -> BSpline:
    """Return the smooth curve through `points` (m, k) at `parameters` (m,)."""
    return make_interp_spline(parameters, points, k=min(_DEGREE, len(points) - 1))


def parameter_range(curve: BSpline) -> tuple[float, float]:
    """Return the first and the last parameter of a curve."""
    return float(curve.t[curve.k]), float(curve.t[-curve.k - 1])


def piecewise_cubics(curve: BSpline) -> tuple[np.ndarray, np.ndarray]:
    """Return the breaks (p + 1,) of a curve and its cubics, by falling powers (4, p, k)."""
    breaks = np.unique(curve.t)
    taylor = [curve(breaks[:-1], nu=order) / factorial(order) for order in (3, 2, 1, 0)]
    return breaks, np.array(taylor)


def first_collision(
    curve: BSpline, checker: CollisionChecker, margin_scale: float = 1.0
) -> np.ndarray | None:
    """Return the first configuration of a curve within the margin, times a factor.

    A curve that starts within the margin must lead away; else its start is returned.
    """
    begin, end = parameter_range(curve)
    # The velocity of a B-spline is within the hull of its derivative's control points.
    velocities = (end - begin) * curve.derivative().c
    steps = max(checker.step_count(np.zeros_like(velocity), velocity) for velocity in velocities)
    if not checker.is_free(curve(begin), margin_scale):
        fine = np.linspace(begin, end, 1 + steps * refinement(checker))
        number = first_clear(checker, map(curve, fine), margin_scale)
        if number is None:
            return np.asarray(curve(begin))
        begin = fine[number]
    rest = curve(np.linspace(begin, end, 1 + int(np.ceil(steps / margin_scale))))
    return next((q for q in rest if not checker.is_free(q, margin_scale)), None)


def _divided(corners: np.ndarray, parts: int) -> np.ndarray:
    """Return points on the straight pieces, `parts` on each, and enough for a cubic."""
    parts = max(parts, -(-_DEGREE // (len(corners) - 1)))
    fractions = np.arange(parts)[:, None] / parts
    pieces = [a + fractions * (b - a) for a, b in pairwise(corners)]
    return np.concatenate([*pieces, corners[-1:]])


def _spline(points: np.ndarray) -> BSpline:
    """Return the B-spline of control points, with knots spaced like the points."""
    length = np.linalg.norm(np.diff(points, axis=0), axis=1)
    at = np.concatenate([[0.0], np.cumsum(length)])
    inner = [at[i : i + _DEGREE].mean() for i in range(1, len(points) - _DEGREE)]
    knots = np.concatenate([at[:1].repeat(_DEGREE + 1), inner, at[-1:].repeat(_DEGREE + 1)])
    return BSpline(knots, points, _DEGREE)


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedCurve:
    """Piecewise cubics of a parameter, whose acceleration is piecewise constant in time."""

    breaks: np.ndarray  # parameters at the ends of the cubics (p + 1,)
    # Coefficients by falling powers of the parameter since the break; the curve has a continuous
    # second derivative (4, p, k)
    cubics: np.ndarray
    parameters: np.ndarray  # parameters at the ends of the stretches of constant acceleration (m,)
    rates: np.ndarray  # rates of change of the parameter there, 0 at both ends [1/s] (m,)
    times: np.ndarray  # times there, from 0 on [s] (m,)

    @classmethod
    def from_rates(
        cls, breaks: np.ndarray, cubics: np.ndarray, parameters: np.ndarray, rates: np.ndarray
    ) -> "TimedCurve":
        """Return the curve with `rates` at `parameters`."""
        times = _times(parameters, rates)
        return cls(breaks=breaks, cubics=cubics, parameters=parameters, rates=rates, times=times)

    @classmethod
    def at_rest(cls, q: np.ndarray) -> "TimedCurve":
        """Return a curve of one configuration that takes no time."""
        ends, zero = np.array([0.0, 1.0]), np.zeros(2)
        cubic = np.zeros((4, 1, len(q)))
        cubic[3] = q
        return cls(breaks=ends, cubics=cubic, parameters=ends, rates=zero, times=zero)

    def slowed(self, factor: float) -> "TimedCurve":
        """Return the same curve with `factor` times the duration."""
        rates = self.rates / factor
        return replace(self, rates=rates, times=_times(self.parameters, rates))

    @property
    def duration(self) -> float:
        """Return the duration [s]."""
        return float(self.times[-1])

    @property
    def start(self) -> np.ndarray:
        """Return the first configuration.  # (k,)."""
        return self.sample(0.0)[0]

    @property
    def goal(self) -> np.ndarray:
        """Return the last configuration.  # (k,)."""
        return self.sample(self.duration)[0]

    def sample(self, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return positions, velocities and accelerations (k,) at a time [s]."""
        q, dq, ddq = self.samples(np.array([time]))
        return q[0], dq[0], ddq[0]

    def samples(self, times: np.ndarray) -> np.ndarray:
        """Return positions, velocities and accelerations at many times (n,).  # (3, n, k)."""
        moving = (times > 0.0) & (times < self.duration)
        piece = np.searchsorted(self.times[1:-1], times, side="right")
        since = np.clip(times, 0.0, self.duration) - self.times[piece]
        acceleration = self._acceleration[piece]
        rate = self.rates[piece] + acceleration * since
        at = self.parameters[piece] + (self.rates[piece] + 0.5 * acceleration * since) * since
        part = np.searchsorted(self.breaks[1:-1], at, side="right")
        s, one, zero = at - self.breaks[part], np.ones_like(at), np.zeros_like(at)
        powers = np.array(
            [
                [s**3, s**2, s, one],
                [3 * s**2, 2 * s, one, zero],
                [6 * s, one + one, zero, zero],
            ]
        )
        q, first, second = np.einsum("dpn,pnk->dnk", powers, self.cubics[:, part])
        rate, acceleration = (moving * rate)[:, None], (moving * acceleration)[:, None]
        return np.array([q, first * rate, second * rate**2 + first * acceleration])

    @cached_property
    def _acceleration(self) -> np.ndarray:
        """Acceleration of the parameter in each stretch [1/s²].  # (m - 1,)."""
        acceleration: np.ndarray = np.diff(self.rates**2) / (2.0 * np.diff(self.parameters))
        return acceleration


def _times(parameters: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the times at the parameters, from the mean rate of each stretch.  # (m,)."""
    steps = 2.0 * np.diff(parameters) / (rates[:-1] + rates[1:])
    return np.concatenate([[0.0], np.cumsum(steps)])
