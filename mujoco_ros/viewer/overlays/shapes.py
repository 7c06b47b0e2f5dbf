"""Geoms for what has no body: arrows, balls, lines."""

from collections.abc import Sequence

import mujoco
import numpy as np

Colour = tuple[float, float, float, float]

ARROW = int(mujoco.mjtGeom.mjGEOM_ARROW)
ROD = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
BALL = int(mujoco.mjtGeom.mjGEOM_SPHERE)

_SHORTEST_M = 1e-4
"""What is shorter is not drawn: it has no direction that could be seen."""
_UPRIGHT = np.eye(3)


def ball(centre: np.ndarray, radius: float, colour: Colour) -> mujoco.MjvGeom:
    """Return a ball at `centre` [m].  # (3,)"""
    return solid(BALL, np.full(3, radius), centre, _UPRIGHT, colour)


def arrow(
    start: np.ndarray, vector: np.ndarray, radius: float, colour: Colour
) -> list[mujoco.MjvGeom]:
    """Return an arrow from `start` along `vector` [m]; none if that is too short to be seen."""
    return _connector(ARROW, start, vector, radius, colour)


def line(start: np.ndarray, end: np.ndarray, radius: float, colour: Colour) -> list[mujoco.MjvGeom]:
    """Return a thin rod from `start` to `end` [m]; none if they are too close to each other."""
    return _connector(ROD, start, end - start, radius, colour)


def outline(corners: Sequence[np.ndarray], radius: float, colour: Colour) -> list[mujoco.MjvGeom]:
    """Return a closed line through `corners` [m]."""
    following = [*corners[1:], *corners[:1]]
    return [
        rod
        for start, end in zip(corners, following, strict=True)
        for rod in line(start, end, radius, colour)
    ]


def solid(
    kind: int, size: np.ndarray, centre: np.ndarray, axes: np.ndarray, colour: Colour
) -> mujoco.MjvGeom:
    """Return a geom as a model has them.

    Args:
        kind: Its mjtGeom; the page can draw no meshes here, nor planes or height fields.
        size: As a model gives it for that kind [m].  # (3,)
        centre: [m].  # (3,)
        axes: Its axes, columns.  # (3, 3)
        colour: Of its surface.
    """
    geom, rgba = mujoco.MjvGeom(), np.array(colour, dtype=np.float32)
    mujoco.mjv_initGeom(geom, kind, size, centre, axes.reshape(9), rgba)
    geom.category = int(mujoco.mjtCatBit.mjCAT_DECOR)
    return geom


def _connector(
    kind: int, start: np.ndarray, vector: np.ndarray, radius: float, colour: Colour
) -> list[mujoco.MjvGeom]:
    if not _SHORTEST_M <= np.linalg.norm(vector) < np.inf:  # so is NaN
        return []
    geom = solid(kind, np.zeros(3), np.zeros(3), _UPRIGHT, colour)
    mujoco.mjv_connector(geom, kind, radius, start, start + vector)
    return [geom]
