"""Smooth curves in joint space."""

from itertools import pairwise
from math import factorial

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.collisions.collision_escape import first_clear, refinement
from mujoco_ros.controllers.planning.errors import NoPathError

_DEGREE = 3
_MARGIN_SCALE = 0.5
"""Rounded corners keep half of the margin, like straight pieces between two checks."""
_MAX_DIVISIONS = 64
"""Limit of the divisions of a straight piece; corners are almost sharp then."""


def round_corners(corners: np.ndarray, checker: CollisionChecker) -> BSpline:
    """Return a smooth curve along straight pieces; its parameter is about the length.

    It is a cubic B-spline with control points on the pieces, so it stays within their hull, and in
    the joint limits, and has their ends. It has as few control points as keep half of the margin;
    with more, it is closer to the corners (m, k).

    Raises:
        NoPathError: There is a collision even close to the straight pieces.
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
    steps = max(checker.step_count(np.zeros_like(it), it) for it in velocities)
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
