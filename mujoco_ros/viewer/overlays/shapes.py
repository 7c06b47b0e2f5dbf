"""Decoration geoms: arrows, spheres and lines."""

from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.viewer.style import AXES, Colour

_ARROW = int(mujoco.mjtGeom.mjGEOM_ARROW)
_CAPSULE = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
_SPHERE = int(mujoco.mjtGeom.mjGEOM_SPHERE)

_MIN_LENGTH_M = 1e-4
"""Shorter arrows and lines are not drawn, because their direction is not visible."""
_AXIS_RADIUS = 0.03
"""Of the axes of a frame, as a share of their length."""
_UPRIGHT = np.eye(3)


def sphere(centre: np.ndarray, radius: float, colour: Colour) -> mujoco.MjvGeom:
    """Return a sphere at `centre` [m].  # (3,)"""
    return solid(_SPHERE, np.full(3, radius), centre, _UPRIGHT, colour)


def arrow(
    start: np.ndarray, vector: np.ndarray, radius: float, colour: Colour
) -> list[mujoco.MjvGeom]:
    """Return an arrow from `start` along `vector` [m]; none if it is too short."""
    return _connector(_ARROW, start, vector, radius, colour)


def line(start: np.ndarray, end: np.ndarray, radius: float, colour: Colour) -> list[mujoco.MjvGeom]:
    """Return a line from `start` to `end` [m]; none if it is too short."""
    return _connector(_CAPSULE, start, end - start, radius, colour)


def outline(corners: Sequence[np.ndarray], radius: float, colour: Colour) -> list[mujoco.MjvGeom]:
    """Return a closed line through `corners` [m]."""
    following = [*corners[1:], *corners[:1]]
    return [
        geom
        for start, end in zip(corners, following, strict=True)
        for geom in line(start, end, radius, colour)
    ]


def frame_length(model: mujoco.MjModel) -> float:
    """Return the length of the axes of frames, that of MuJoCo's own [m]."""
    return float(model.vis.scale.framelength * model.stat.meansize)


def axes_at(origin: np.ndarray, axes: np.ndarray, length: float) -> list[mujoco.MjvGeom]:
    """Return the axes of a frame.

    Args:
        origin: [m].  # (3,)
        axes: Rotation matrix.  # (3, 3)
        length: Of each axis [m].
    """
    return [
        geom
        for axis, colour in enumerate(AXES)
        for geom in line(origin, origin + length * axes[:, axis], _AXIS_RADIUS * length, colour)
    ]


def solid(
    kind: int, size: np.ndarray, centre: np.ndarray, axes: np.ndarray, colour: Colour
) -> mujoco.MjvGeom:
    """Return a decoration geom.

    Args:
        kind: Its mjtGeom; the page draws no meshes, planes or height fields as decoration.
        size: As ``geom_size`` for that kind [m].  # (3,)
        centre: [m].  # (3,)
        axes: Rotation matrix, or the edges and the normal of a triangle of size 1.  # (3, 3)
        colour: Of its surface.
    """
    geom, rgba = mujoco.MjvGeom(), np.array(colour, dtype=np.float32)
    mujoco.mjv_initGeom(geom, kind, size, centre, axes.reshape(9), rgba)
    geom.category = int(mujoco.mjtCatBit.mjCAT_DECOR)
    return geom


def _connector(
    kind: int, start: np.ndarray, vector: np.ndarray, radius: float, colour: Colour
) -> list[mujoco.MjvGeom]:
    if not _MIN_LENGTH_M <= np.linalg.norm(vector) < np.inf:  # also rejects NaN
        return []
    geom = solid(kind, np.zeros(3), np.zeros(3), _UPRIGHT, colour)
    mujoco.mjv_connector(geom, kind, radius, start, start + vector)
    return [geom]
