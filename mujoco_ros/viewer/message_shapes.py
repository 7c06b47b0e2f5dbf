"""Shapes, triangles, frames and texts of messages, without ROS."""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mujoco_ros.model.pose import Pose


def printable(text: str, *, keep: str = "") -> str:
    """Return a text without characters at which Dear ImGui may break a line, but for `keep`."""
    return "".join(
        character if character.isprintable() or character in keep else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


_CELLS = (64, 48, 32, 24, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2)
"""Cells along the longest side of a mesh; the finest with few enough triangles are chosen."""
_SMALLEST = 1e-12  # area below which a triangle is not drawn [m²]


def triangle_axes(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which triangles have an area, and how MuJoCo draws these.  # (n,) bool, (m, 3, 3)

    The columns are both edges at the first corner [m] and the normal.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        normals = np.cross(first, second)
        lengths = np.linalg.norm(normals, axis=1)
    has_area = (lengths > 2.0 * _SMALLEST) & np.isfinite(lengths)
    unit = normals[has_area] / lengths[has_area, None]
    return has_area, np.stack([first[has_area], second[has_area], unit], axis=2)


def simplified(
    vertices: np.ndarray, faces: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, NDArray[np.intp]]:
    """Merge near vertices into their mean until at most `most` triangles remain.

    Return the vertices [m], the faces, and the index of each face among the given ones.
    """
    kept = np.arange(len(faces))
    if len(faces) <= most:
        return vertices, faces, kept
    # More cells mean more triangles, with few exceptions.
    index = bisect_left(
        _CELLS, True, key=lambda count: len(_merged(vertices, faces, count)[2]) <= most
    )
    merged, cells_of, kept = _merged(vertices, faces, _CELLS[min(index, len(_CELLS) - 1)])
    kept = kept[:most]
    return merged, cells_of[faces[kept]], kept


def _merged(
    vertices: np.ndarray, faces: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, NDArray[np.intp]]:
    """Merge the vertices in each of `count` cells along the longest side.

    Return merged vertices, their indices for the given ones, and the faces that keep three corners,
    without duplicates.
    """
    low, extent = vertices.min(axis=0), np.ptp(vertices, axis=0).max()
    cells = ((vertices - low) * (count / max(extent, _SMALLEST))).astype(np.int64)
    numbers = cells @ np.array([1, count + 1, (count + 1) ** 2])
    _, cells_of, members = np.unique(numbers, return_inverse=True, return_counts=True)
    sums = [np.bincount(cells_of, weights=axis) for axis in vertices.T]
    corners = np.sort(cells_of[faces], axis=1)
    kept = np.flatnonzero((np.diff(corners, axis=1) > 0).all(axis=1))
    size = len(members)
    _, first = np.unique(corners[kept] @ np.array([size * size, size, 1]), return_index=True)
    return np.stack(sums, axis=1) / members[:, None], cells_of, kept[np.sort(first)]


MOST_DRAWN = 1024
"""Shapes that the page can draw, by Studio's protocol."""


class ShapeKind(StrEnum):
    """What is drawn for a message."""

    SPHERE = "sphere"
    BOX = "box"
    CYLINDER = "cylinder"
    ARROW = "arrow"
    LINE = "line"
    TEXT = "text"
    TRIANGLE = "triangle"
    MESH = "mesh"
    FORCE = "force"
    TORQUE = "torque"


@dataclass(eq=False, kw_only=True, slots=True)
class Attachment:
    """Attaches shapes of other frames to an object, as it was when they were described."""

    frame: str  # TF frame of the object
    pose: Pose  # pose of the object in it
    # Poses of the other frames in the object by their names, from the first drawing on
    found: dict[str, Pose] = field(default_factory=dict)

    def pose_of(self, other: str, find: Callable[[str], Pose | None]) -> Pose | None:
        """Return the pose of another frame in the object; None if `find` does not know one."""
        if other not in self.found:
            frame, wanted = find(self.frame), find(other)
            if frame is None or wanted is None:
                return None
            self.found[other] = (frame @ self.pose).inverse() @ wanted
        return self.found[other]


class Carrier(NamedTuple):
    """An object that carries a shape of another frame."""

    attachment: Attachment  # how the shape is attached to it
    frame: str  # TF frame of the object
    pose: Pose  # present pose of the object in it


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A shape that a message contains; see `ShapeKind`."""

    kind: ShapeKind  # what it is
    frame: str  # TF frame of everything below
    # Middle, begin of an arrow or line, first corner of a triangle, or origin of a mesh [m] (3,)
    position: np.ndarray
    # Rotation matrix; columns are the axes of a box, cylinder or mesh. Of a triangle, the edges at
    # its first corner [m] and its normal (3, 3)
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    # Lengths of a box, or diameters and height [m]; of a mesh, the factors of its coordinates (3,)
    size: np.ndarray = field(default_factory=lambda: np.zeros(3))
    # End of an arrow or line [m]; of a force or torque, the position plus the vector [N or Nm] (3,)
    end: np.ndarray = field(default_factory=lambda: np.zeros(3))
    width: float = 0.0  # diameter of an arrow or line [m]
    # Red, green, blue and opacity in 0..1
    colour: tuple[float, float, float, float] = (0.2, 0.6, 1.0, 0.9)
    text: str = ""  # a text, whose middle is the position
    mesh: str = ""  # URI of the file of a mesh
    has_file_colour: bool = False  # whether a mesh has the colour of its file, if that has one
    carrier: Carrier | None = None  # what the shape moves with, unless it is the frame

    def turned(self, rotation: np.ndarray, origin: np.ndarray, frame: str) -> "Shape":
        """Return the shape in another frame; in it, the present one has these axes and origin."""
        return replace(
            self,
            frame=frame,
            position=origin + rotation @ self.position,
            axes=rotation @ self.axes,
            end=origin + rotation @ self.end,
        )

    def pose(self, find: Callable[[str], Pose | None]) -> Pose | None:
        """Return the pose of its frame in ``world``; None if `find` does not know a frame there."""
        if self.carrier is None:
            return find(self.frame)
        carrying = find(self.carrier.frame)
        relative = self.carrier.attachment.pose_of(self.frame, find)
        if carrying is None or relative is None:
            return None
        return carrying @ self.carrier.pose @ relative


class JointPath(NamedTuple):
    """Positions of joints that a trajectory contains."""

    joints: tuple[str, ...]  # their names
    positions: np.ndarray  # positions at the points [rad or m] (n, joints)
    end: float  # simulated time at which the trajectory ends [s]


class TfFrame(NamedTuple):
    """A frame of /tf or /tf_static."""

    parent: str  # its parent
    position: np.ndarray  # in the parent [m] (3,)
    quat_wxyz: np.ndarray  # in the parent (4,)
