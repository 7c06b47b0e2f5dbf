"""Smooth curves through the joints' space."""

from itertools import pairwise
from math import factorial

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from mujoco_ros.controllers.planning.collisions.collision_escape import finer, left
from mujoco_ros.controllers.planning.collisions.collisions import Collisions
from mujoco_ros.controllers.planning.errors import NoPathError

_DEGREE = 3
_SHARE = 0.5
"""Of the margin: between two checks, the straight pieces may come nearer as well."""
_FINEST = 64
"""Into how many parts a straight piece is divided at most: what is left of a corner is tiny."""


def rounded(corners: np.ndarray, collisions: Collisions) -> BSpline:
    """Return a smooth curve along straight pieces, its parameter about the length of the way.

    A cubic B-spline whose control points lie on the pieces. It stays within their hull, so in the
    limits; it begins and ends where they do; and the more points there are, the closer it comes to
    the corners. It has as few as are enough for nothing to touch, with half of the margin kept.

    Args:
        corners: Where the pieces meet, both ends included.  # (m, k)
        collisions: What must not touch.

    Raises:
        NoPathError: Something touches even next to the straight pieces.
    """
    parts = 1
    while parts <= _FINEST:
        curve = _spline(_divided(corners, parts))
        if len(corners) == 2 or curve_touches(curve, collisions, _SHARE) is None:
            return curve
        parts *= 2
    raise NoPathError("the way that was found is too narrow to take its corners smoothly")


def through(points: np.ndarray, where: np.ndarray) -> BSpline:
    """Return the smooth curve through `points` (m, k) at the parameters `where` (m,)."""
    return make_interp_spline(where, points, k=min(_DEGREE, len(points) - 1))


def ends(curve: BSpline) -> tuple[float, float]:
    """Return the parameters between which a curve is defined."""
    return float(curve.t[curve.k]), float(curve.t[-curve.k - 1])


def cubics(curve: BSpline) -> tuple[np.ndarray, np.ndarray]:
    """Return a curve's breaks (p + 1,), and its pieces as cubics, falling powers (4, p, k)."""
    breaks = np.unique(curve.t)
    taylor = [curve(breaks[:-1], nu=order) / factorial(order) for order in (3, 2, 1, 0)]
    return breaks, np.array(taylor)


def curve_touches(curve: BSpline, collisions: Collisions, share: float = 1.0) -> np.ndarray | None:
    """Return the first posture found on a curve that keeps less than a share of the margin.

    A curve that begins so must lead away; if it does not, that is its first posture.
    """
    begin, end = ends(curve)
    # A curve is nowhere faster than at one of its derivative's control points.
    fastest = (end - begin) * curve.derivative().c
    steps = max(collisions.steps(np.zeros_like(whole), whole) for whole in fastest)
    if not collisions.free(curve(begin), share):
        fine = np.linspace(begin, end, 1 + steps * finer(collisions))
        number = left(collisions, map(curve, fine), share)
        if number is None:
            return np.asarray(curve(begin))
        begin = fine[number]
    rest = curve(np.linspace(begin, end, 1 + int(np.ceil(steps / share))))
    return next((q for q in rest if not collisions.free(q, share)), None)


def _divided(corners: np.ndarray, parts: int) -> np.ndarray:
    """Return points on the straight pieces, `parts` on each, and enough of them for a cubic."""
    parts = max(parts, -(-_DEGREE // (len(corners) - 1)))
    share = np.arange(parts)[:, None] / parts
    pieces = [a + share * (b - a) for a, b in pairwise(corners)]
    return np.concatenate([*pieces, corners[-1:]])


def _spline(points: np.ndarray) -> BSpline:
    """Return the B-spline of control points; knots spaced like the points."""
    length = np.linalg.norm(np.diff(points, axis=0), axis=1)
    where = np.concatenate([[0.0], np.cumsum(length)])
    inner = [where[i : i + _DEGREE].mean() for i in range(1, len(points) - _DEGREE)]
    knots = np.concatenate([where[:1].repeat(_DEGREE + 1), inner, where[-1:].repeat(_DEGREE + 1)])
    return BSpline(knots, points, _DEGREE)
