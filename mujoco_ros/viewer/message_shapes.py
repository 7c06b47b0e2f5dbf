"""Shapes, triangles, frames and texts of messages, without ROS."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.colours import Colour


def printable(text: str, *, keep: str = "") -> str:
    """Return a text in one line, without characters that have no glyph, but for `keep`."""
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
"""Shapes that are drawn: more would slow a page down."""


class ShapeKind(IntEnum):
    """What is drawn for a message, as the type of a geom."""

    SPHERE = int(mujoco.mjtGeom.mjGEOM_ELLIPSOID)
    BOX = int(mujoco.mjtGeom.mjGEOM_BOX)
    CYLINDER = int(mujoco.mjtGeom.mjGEOM_CYLINDER)
    ARROW = int(mujoco.mjtGeom.mjGEOM_ARROW)
    LINE = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
    TRIANGLE = int(mujoco.mjtGeom.mjGEOM_TRIANGLE)
    MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
    TEXT = int(mujoco.mjtGeom.mjGEOM_LABEL)


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
    # Middle, begin of an arrow, first corner of a triangle, or origin of a mesh [m] (3,)
    position: np.ndarray
    # Rotation matrix; columns are the axes, of which arrows and lines have the third one as their
    # direction. Of a triangle, the edges at its first corner [m] and its normal (3, 3)
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    # As the size of a geom [m]: half lengths of a box; radius and half length of a cylinder or
    # line; radius, radius and length of an arrow. Of a mesh, the factors of its coordinates (3,)
    size: np.ndarray = field(default_factory=lambda: np.ones(3))
    scale: str = ""  # for a length in N or Nm: the attribute of `Scale` with its unit
    # Red, green, blue and opacity in 0..1
    colour: Colour = (0.2, 0.6, 1.0, 0.9)
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


_SHORTEST_M = 1e-4  # length of an arrow or line below which it has no direction


def arrow(
    frame: str, start: np.ndarray, vector: np.ndarray, width: float, colour: Colour, scale: str = ""
) -> Iterator[Shape]:
    """Yield an arrow of a diameter from a point along a vector [m]; none if it is too short."""
    length = float(np.linalg.norm(vector))
    if _SHORTEST_M <= length < np.inf:  # also rejects NaN
        yield Shape(
            kind=ShapeKind.ARROW,
            frame=frame,
            position=start,
            axes=_axes_along(vector),
            size=np.array([0.5 * width, 0.5 * width, length]),
            colour=colour,
            scale=scale,
        )


def line(
    frame: str, start: np.ndarray, end: np.ndarray, width: float, colour: Colour
) -> Iterator[Shape]:
    """Yield a line of a diameter between two points [m]; none if it is too short."""
    for shape in arrow(frame, start, end - start, width, colour):
        radius, _, length = shape.size
        size = np.array([radius, 0.5 * length, 0.0])
        yield replace(shape, kind=ShapeKind.LINE, position=0.5 * (start + end), size=size)


def _axes_along(vector: np.ndarray) -> np.ndarray:
    quat, matrix = np.zeros(4), np.zeros(9)
    mujoco.mju_quatZ2Vec(quat, vector)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)


class JointPath(NamedTuple):
    """Positions of joints that a trajectory contains."""

    joints: tuple[str, ...]  # their names
    positions: np.ndarray  # positions at the points [rad or m] (n, joints)
    end: float  # simulated time at which the trajectory ends [s]


class TfFrame(NamedTuple):
    """A frame of /tf or /tf_static."""

    parent: str  # its parent
    pose: Pose  # in the parent
