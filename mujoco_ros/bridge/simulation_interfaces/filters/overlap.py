"""Overlap of boxes with the bounds in a request."""

import itertools
from collections.abc import Callable

import numpy as np

from mujoco_ros.sim.observer import BoundingBox

_MOST_ROUNDS = 100
_TOUCHING = 1e-12
_TINY = 1e-14
Overlaps = Callable[[BoundingBox], bool]


def with_box(bounds: BoundingBox) -> Overlaps:
    """Return the function that decides whether a box overlaps with another one."""
    return lambda box: bool(np.all(bounds.low <= box.high) and np.all(box.low <= bounds.high))


def with_sphere(centre: np.ndarray, radius: float) -> Overlaps:
    """Return the function that decides whether a box overlaps with a sphere."""

    def overlaps(box: BoundingBox) -> bool:
        nearest = np.clip(centre, box.low, box.high)
        return bool(np.sum((nearest - centre) ** 2) <= radius**2)

    return overlaps


def with_hull(points: np.ndarray) -> Overlaps:
    """Return the function that decides whether a box overlaps with a convex hull.

    Args:
        points: Points whose hull it is.  # (n, 3)
    """
    return lambda box: (
        not _separated(
            points, np.array(list(itertools.product(*zip(box.low, box.high, strict=True))))
        )
    )


def _separated(a: np.ndarray, b: np.ndarray) -> bool:
    """Return whether a plane separates the hulls of two sets of points.  # (n, 3), (m, 3).

    `gap` converges to the shortest vector from b's hull to a's, which is the point nearest to the
    origin in the hull of the differences (Wolfe's algorithm); the plane normal to it is tested.
    """
    corners, weights = (a[:1] - b[0]), np.ones(1)
    for _ in range(_MOST_ROUNDS):
        gap = weights @ corners
        extreme = a[np.argmin(a @ gap)] - b[np.argmax(b @ gap)]
        if gap @ extreme > 0.0:
            return True
        if gap @ (gap - extreme) <= _TOUCHING * (gap @ gap + extreme @ extreme):
            return False
        corners, weights = _nearest(np.vstack([corners, extreme]), np.append(weights, 0.0))
    return False


def _nearest(corners: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners and weights whose mean is nearest to the origin in their hull."""
    while True:
        count = len(corners)
        system = np.ones((count + 1, count + 1))
        system[:count, :count] = corners @ corners.T
        system[count, count] = 0.0
        flat = np.linalg.lstsq(system, np.append(np.zeros(count), 1.0))[0][:count]
        outside = flat <= 0.0
        if not outside.any() or count == 1:
            return corners, flat
        reach = np.min(weights[outside] / (weights[outside] - flat[outside] + _TINY))
        weights = (1.0 - reach) * weights + reach * flat
        keep = weights > _TINY
        if keep.all():
            keep[np.argmin(weights)] = False
        corners, weights = corners[keep], weights[keep] / weights[keep].sum()
