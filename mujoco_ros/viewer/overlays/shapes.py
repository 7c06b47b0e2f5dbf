"""What overlays are drawn from: lengths, and decoration geoms."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.viewer.colours import AXES, Colour


@dataclass(kw_only=True, slots=True)
class Scale:
    """Lengths of arrows."""

    force: float = 0.004  # [m/N]
    torque: float = 0.02  # [m/Nm]
    radius: float = 0.008  # of arrows [m]
    sensor_sign: float = -1.0  # -1 if wrenches are published child on parent, else 1


_ARROW = int(mujoco.mjtGeom.mjGEOM_ARROW)
_CAPSULE = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
_SPHERE = int(mujoco.mjtGeom.mjGEOM_SPHERE)
_LABEL = int(mujoco.mjtGeom.mjGEOM_LABEL)
_LABEL_BYTES = 99  # of the label of a geom

_MIN_LENGTH_M = 1e-4
"""Shorter arrows and lines are not drawn, because their direction is not visible."""
_AXIS_RADIUS = 0.03  # of the axes of a frame, as a share of their length
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
    """Return the length of the axes of frames, as MuJoCo draws its own [m]."""
    return float(model.vis.scale.framelength * model.stat.meansize)


def axes_at(origin: np.ndarray, axes: np.ndarray, length: float) -> list[mujoco.MjvGeom]:
    """Return the axes of a frame, each of a length [m]."""
    return [
        geom
        for axis, colour in enumerate(AXES)
        for geom in line(origin, origin + length * axes[:, axis], _AXIS_RADIUS * length, colour)
    ]


def solid(
    kind: int, size: np.ndarray, centre: np.ndarray, axes: np.ndarray, colour: Colour
) -> mujoco.MjvGeom:
    """Return a decoration geom.

    A triangle has size 1, and its edges and normal as axes; other sizes are as ``geom_size``.
    """
    geom, rgba = mujoco.MjvGeom(), np.array(colour, dtype=np.float32)
    mujoco.mjv_initGeom(geom, kind, size, centre, axes.reshape(9), rgba)
    geom.category = int(mujoco.mjtCatBit.mjCAT_DECOR)
    return geom


def label(text: str, position: np.ndarray, colour: Colour) -> mujoco.MjvGeom:
    """Return a text with its middle at `position` [m]."""
    geom = solid(_LABEL, np.zeros(3), position, _UPRIGHT, colour)
    geom.label = text.encode()[:_LABEL_BYTES].decode(errors="ignore")
    return geom


def _connector(
    kind: int, start: np.ndarray, vector: np.ndarray, radius: float, colour: Colour
) -> list[mujoco.MjvGeom]:
    if not _MIN_LENGTH_M <= np.linalg.norm(vector) < np.inf:  # also rejects NaN
        return []
    geom = solid(kind, np.zeros(3), np.zeros(3), _UPRIGHT, colour)
    mujoco.mjv_connector(geom, kind, radius, start, start + vector)
    return [geom]
