"""A free place for another model, near a point."""

import math
from collections.abc import Iterator

import mujoco
import numpy as np

_CLEARANCE_M = 0.05  # height above what is below
_ABOVE_M = 2.0  # height above the point from which the search for what is below starts
_STEP_M, _MOST = 0.1, 600  # distance of places that are tried, and their number
_MOST_RAYS = 50  # places above which nothing moves, whose floor is searched for
_TURN = math.pi * (3.0 - math.sqrt(5.0))  # between two places: fills the plane evenly
_INFINITE = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
_DOWN = np.array([0.0, 0.0, -1.0])


def free_place(
    model: mujoco.MjModel, data: mujoco.MjData, near: np.ndarray, half: float = 0.15
) -> np.ndarray | None:
    """Return a position near a point where a box of a half length fits, on what is fixed below it.

    Args:
        model: The model.
        data: Its state, after ``mj_forward``.
        near: The point [m].  # (3,)
        half: Half of the edge of the box, which the model that is placed is taken for [m].

    Returns:
        The middle of the box [m]; None if there is no place.  # (3,)
    """
    low, high, moves = _boxes(model, data)
    start = max(float(near[2]), 0.0) + _ABOVE_M
    left = _MOST_RAYS
    for x, y in _places(near[:2]):
        flat = np.array([x, y])
        above = (low[moves, :2] < flat + half) & (high[moves, :2] > flat - half)
        if above.all(axis=1).any():
            continue
        left -= 1
        if left < 0:  # each takes up to a millisecond
            break
        floor = _floor(model, data, np.array([x, y, start]), half)
        if floor is None:
            continue
        middle = np.array([x, y, floor + half + _CLEARANCE_M])
        if not ((low < middle + half) & (high > middle - half)).all(axis=1).any():
            return middle
    return None


def _places(near: np.ndarray) -> Iterator[tuple[float, float]]:
    for count in range(_MOST):
        distance, angle = _STEP_M * math.sqrt(count), _TURN * count
        yield (
            float(near[0] + distance * math.cos(angle)),
            float(near[1] + distance * math.sin(angle)),
        )


def _boxes(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lowest and highest corners of the boxes around all geoms, and whether they move.

    # (n, 3) [m], (n, 3) [m], (n,)
    """
    finite = ~np.isin(model.geom_type, _INFINITE)
    axes = data.geom_xmat[finite].reshape(-1, 3, 3)
    centres = data.geom_xpos[finite] + np.einsum("gij,gj->gi", axes, model.geom_aabb[finite, :3])
    halves = np.einsum("gij,gj->gi", np.abs(axes), model.geom_aabb[finite, 3:])
    moves = model.body_weldid[model.geom_bodyid[finite]] > 0
    return centres - halves, centres + halves, moves


def _floor(
    model: mujoco.MjModel, data: mujoco.MjData, start: np.ndarray, half: float
) -> float | None:
    """Return the height of what is below a square; None if that moves, or there is nothing."""
    highest = -math.inf
    found = np.zeros(1, np.int32)
    for right, ahead in ((0, 0), (1, 1), (1, -1), (-1, 1), (-1, -1)):
        origin = start + np.array([half * right, half * ahead, 0.0])
        distance = mujoco.mj_ray(model, data, origin, _DOWN, None, 1, -1, found)
        if distance < 0.0 or model.body_weldid[model.geom_bodyid[found[0]]]:
            return None
        highest = max(highest, float(start[2]) - distance)
    return highest
