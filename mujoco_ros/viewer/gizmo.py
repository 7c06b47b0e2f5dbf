"""Handles that drag a frame: along its axes, about its axes, and parallel to the screen."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.projection import ScreenProjection

_LENGTH_PX = 70.0
"""Length of the axes on the screen, at any depth."""
_RING = 0.75
"""Radius of the rings, as a share of the length."""
_LETTERS = "xyz"


@dataclass(frozen=True, kw_only=True, slots=True)
class Handle:
    """A handle of a frame.

    Attributes:
        name: ``move``, ``move x`` … or ``turn x`` …, different for each handle of a frame.
        axis: Index of the axis whose colour it has; None for the handle at the origin.
        rotates: Whether it rotates the frame.
        point: Position in the world [m].  # (3,)
        direction: Unit vector of the handle's motion for a positive drag; 0 for a motion in a
            plane.  # (3,)
        normal: Unit vector of the axis of rotation, or normal of the plane of motion; 0 for the
            plane of the screen.  # (3,)
        control: Name of the control of an interactive marker that it belongs to.
    """

    name: str
    axis: int | None = None
    rotates: bool = False
    point: np.ndarray
    direction: np.ndarray = field(default_factory=lambda: np.zeros(3))
    normal: np.ndarray = field(default_factory=lambda: np.zeros(3))
    control: str = ""


def handles(frame: Pose, projection: ScreenProjection) -> Iterator[Handle]:
    """Yield the handles of a frame, of equal size on the screen at any depth."""
    axes, length = frame.matrix, handle_length(frame, projection)
    yield Handle(name="move", point=frame.position)
    for i in range(3):
        yield line_handle(axes, i, frame.position, length)
    for i in range(3):
        yield turn_handle(axes, i, frame.position, length)


def handle_length(frame: Pose, projection: ScreenProjection) -> float:
    """Return the length of the axes of a frame [m]."""
    return _LENGTH_PX * projection.metres_per_pixel(frame.position)


def line_handle(axes: np.ndarray, i: int, origin: np.ndarray, length: float) -> Handle:
    """Return the handle that moves along column `i` of a rotation matrix."""
    axis = axes[:, i]
    return Handle(name=f"move {_LETTERS[i]}", axis=i, point=origin + length * axis, direction=axis)


def turn_handle(axes: np.ndarray, i: int, origin: np.ndarray, length: float) -> Handle:
    """Return the handle that rotates about column `i` of a rotation matrix."""
    radius = (axes[:, i - 2] + axes[:, i - 1]) / np.sqrt(2.0)
    return Handle(
        name=f"turn {_LETTERS[i]}",
        axis=i,
        rotates=True,
        point=origin + _RING * length * radius,
        direction=np.cross(axes[:, i], radius),
        normal=axes[:, i],
    )


def ring(handle: Handle, origin: np.ndarray) -> np.ndarray:
    """Return the quarter circle whose middle is a handle that rotates about `origin`.  # (n, 3)"""
    radius = handle.point - origin
    angles = np.linspace(-0.25 * np.pi, 0.25 * np.pi, 13)[:, None]
    tangent = np.cross(handle.normal, radius)
    return np.asarray(origin + np.cos(angles) * radius + np.sin(angles) * tangent)


def dragged(frame: Pose, handle: Handle, projection: ScreenProjection, pixels: np.ndarray) -> Pose:
    """Return the frame after a drag of a handle.

    Args:
        frame: The frame at the start of the drag, like `handle` and `projection`.
        handle: The dragged handle.
        projection: The projection of the camera.
        pixels: Motion of the mouse, right and down.  # (2,)
    """
    if not handle.rotates and not handle.direction.any():
        motion = projection.drag_in_plane(handle.point, pixels)
        if handle.normal.any():
            motion = projection.drag_on_plane(handle.point, handle.normal, pixels)
        return replace(frame, position=frame.position + motion)
    distance = projection.drag_along(handle.point, handle.direction, pixels)
    if not handle.rotates:
        return replace(frame, position=frame.position + distance * handle.direction)
    radius = float(np.linalg.norm(handle.point - frame.position))
    rotation, quat = np.zeros((2, 4))
    mujoco.mju_axisAngle2Quat(rotation, handle.normal, distance / radius)
    mujoco.mju_mulQuat(quat, rotation, frame.quat_wxyz)
    mujoco.mju_normalize4(quat)
    return replace(frame, quat_wxyz=quat)
