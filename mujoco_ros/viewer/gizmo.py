"""Handles that drag a frame: along its axes, about its axes, and parallel to the screen."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.projection import ScreenProjection

_LENGTH_PX = 70.0
"""Length of the axes on the screen, at any depth."""
_RING = 0.75
"""Radius of the rings, as a share of the length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Handle:
    """A handle of a frame.

    Attributes:
        name: ``move``, ``move x`` … or ``turn x`` …
        axis: Index of the frame's axis; None for the handle at the origin.
        rotates: Whether it rotates the frame.
        point: Position in the world [m].  # (3,)
        direction: Unit vector of the handle's motion for a positive drag.  # (3,)
    """

    name: str
    axis: int | None = None
    rotates: bool = False
    point: np.ndarray
    direction: np.ndarray


def handles(frame: Pose, projection: ScreenProjection) -> Iterator[Handle]:
    """Yield the handles of a frame, of equal size on the screen at any depth."""
    axes, origin = frame.matrix, frame.position
    length = _LENGTH_PX * projection.metres_per_pixel(origin)
    yield Handle(name="move", point=origin, direction=np.zeros(3))
    for i, letter in enumerate("xyz"):
        axis = axes[:, i]
        yield Handle(name=f"move {letter}", axis=i, point=origin + length * axis, direction=axis)
    for i, letter in enumerate("xyz"):
        radius = (axes[:, i - 2] + axes[:, i - 1]) / np.sqrt(2.0)
        yield Handle(
            name=f"turn {letter}",
            axis=i,
            rotates=True,
            point=origin + _RING * length * radius,
            direction=np.cross(axes[:, i], radius),
        )


def ring(frame: Pose, axis: int, projection: ScreenProjection) -> np.ndarray:
    """Return the quarter circle through the handle that rotates about an axis [m].  # (n, 3)"""
    axes = frame.matrix
    radius = _RING * _LENGTH_PX * projection.metres_per_pixel(frame.position)
    angles = np.linspace(0.0, np.pi / 2, 13)[:, None]
    return np.asarray(
        frame.position
        + radius * (np.cos(angles) * axes[:, axis - 2] + np.sin(angles) * axes[:, axis - 1])
    )


def dragged(frame: Pose, handle: Handle, projection: ScreenProjection, pixels: np.ndarray) -> Pose:
    """Return the frame after a drag of a handle.

    Args:
        frame: The frame at the start of the drag, like `handle` and `projection`.
        handle: The dragged handle.
        projection: The projection of the camera.
        pixels: Motion of the mouse, right and down.  # (2,)
    """
    if handle.axis is None:
        motion = projection.drag_in_plane(handle.point, pixels)
        return replace(frame, position=frame.position + motion)
    distance = projection.drag_along(handle.point, handle.direction, pixels)
    if not handle.rotates:
        return replace(frame, position=frame.position + distance * handle.direction)
    radius = float(np.linalg.norm(handle.point - frame.position))
    rotation, quat = np.zeros((2, 4))
    mujoco.mju_axisAngle2Quat(rotation, frame.matrix[:, handle.axis], distance / radius)
    mujoco.mju_mulQuat(quat, rotation, frame.quat_wxyz)
    mujoco.mju_normalize4(quat)
    return replace(frame, quat_wxyz=quat)
