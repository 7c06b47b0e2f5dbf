"""Handles by which a frame is dragged: along its axes, about them, and freely."""

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.viewer.projection import ScreenProjection

_REACH_PX = 70.0
"""How far from the origin the handles are on the screen, wherever the frame is."""
_RING = 0.75


@dataclass(frozen=True, kw_only=True, slots=True)
class GizmoFrame:
    """A pose in the world.

    Attributes:
        position: [m].  # (3,)
        quat_wxyz: Orientation.  # (4,)
    """

    position: np.ndarray
    quat_wxyz: np.ndarray

    @property
    def axes(self) -> np.ndarray:
        """Its axes, columns.  # (3, 3)"""
        matrix = np.zeros(9)
        mujoco.mju_quat2Mat(matrix, self.quat_wxyz)
        return matrix.reshape(3, 3)

    def is_at(self, other: "GizmoFrame") -> bool:
        """Whether it is where another is."""
        return np.array_equal(self.position, other.position) and np.array_equal(
            self.quat_wxyz, other.quat_wxyz
        )

    def moved(self, by: np.ndarray) -> "GizmoFrame":
        """Return it moved by so much in the world [m].  # (3,)"""
        return GizmoFrame(position=self.position + by, quat_wxyz=self.quat_wxyz)

    def turned(self, axis: np.ndarray, angle: float) -> "GizmoFrame":
        """Return it turned about an axis of the world through its origin [rad]."""
        turn, quat = np.zeros(4), np.zeros(4)
        mujoco.mju_axisAngle2Quat(turn, axis, angle)
        mujoco.mju_mulQuat(quat, turn, self.quat_wxyz)
        mujoco.mju_normalize4(quat)
        return GizmoFrame(position=self.position, quat_wxyz=quat)


@dataclass(frozen=True, kw_only=True, slots=True)
class Handle:
    """Something to take a frame by.

    Attributes:
        name: ``move``, ``move x`` … or ``turn x`` …
        axis: Number of the frame's axis; None for the handle in the middle.
        turns: Whether it turns the frame.
        point: Where it is in the world [m].  # (3,)
        way: Where it goes if the frame is moved or turned forward, unit vector.  # (3,)
    """

    name: str
    axis: int | None = None
    turns: bool = False
    point: np.ndarray
    way: np.ndarray


def handles(frame: GizmoFrame, lens: ScreenProjection) -> Iterator[Handle]:
    """Yield the handles of a frame, as large on the screen wherever it is."""
    axes, origin = frame.axes, frame.position
    reach = _REACH_PX * lens.metres_per_pixel(origin)
    yield Handle(name="move", point=origin, way=np.zeros(3))
    for i, letter in enumerate("xyz"):
        way = axes[:, i]
        yield Handle(name=f"move {letter}", axis=i, point=origin + reach * way, way=way)
    for i, letter in enumerate("xyz"):
        arm = (axes[:, i - 2] + axes[:, i - 1]) / np.sqrt(2.0)
        yield Handle(
            name=f"turn {letter}",
            axis=i,
            turns=True,
            point=origin + _RING * reach * arm,
            way=np.cross(axes[:, i], arm),
        )


def ring(frame: GizmoFrame, axis: int, lens: ScreenProjection, corners: int = 13) -> np.ndarray:
    """Return the quarter of a circle that the handle which turns about an axis is on.  # (n, 3)"""
    axes = frame.axes
    radius = _RING * _REACH_PX * lens.metres_per_pixel(frame.position)
    angles = np.linspace(0.0, np.pi / 2, corners)[:, None]
    return np.asarray(
        frame.position
        + radius * (np.cos(angles) * axes[:, axis - 2] + np.sin(angles) * axes[:, axis - 1])
    )


def dragged(
    frame: GizmoFrame, handle: Handle, lens: ScreenProjection, pixels: np.ndarray
) -> GizmoFrame:
    """Return the frame after its handle was dragged.

    Args:
        frame: As it was.
        handle: The handle, where it was.
        lens: What the mouse moves before.
        pixels: How the mouse moved, to the right and down.  # (2,)
    """
    if handle.axis is None:
        return frame.moved(lens.in_plane(handle.point, pixels))
    way = lens.along(handle.point, handle.way, pixels)
    if not handle.turns:
        return frame.moved(way * handle.way)
    radius = float(np.linalg.norm(handle.point - frame.position))
    return frame.turned(frame.axes[:, handle.axis], way / radius)
