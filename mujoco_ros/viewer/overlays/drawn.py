"""Shapes of the messages of topics, in the frames of the scene, and these frames."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.colours import WHITE, Colour
from mujoco_ros.viewer.message_shapes import Shape, ShapeKind, TfFrame, printable
from mujoco_ros.viewer.overlays.shapes import (
    OverlayScene,
    Scale,
    arrow,
    axes_at,
    frame_length,
    line,
    solid,
)

WORLD = "world"
_DEEPEST = 50  # longest chain of frames
_MOST_BELOW = 100  # most frames below a root that are searched for a body
_SOLIDS = {
    ShapeKind.SPHERE: int(mujoco.mjtGeom.mjGEOM_ELLIPSOID),
    ShapeKind.BOX: int(mujoco.mjtGeom.mjGEOM_BOX),
    ShapeKind.CYLINDER: int(mujoco.mjtGeom.mjGEOM_CYLINDER),
}
_TRIANGLE, _ONES = int(mujoco.mjtGeom.mjGEOM_TRIANGLE), np.ones(3)


class Frames:
    """Poses of TF frames in a scene: its bodies, and frames of /tf and /tf_static on them.

    A frame whose chain ends in a root that is no body, such as ``map``, is placed by the first body
    below that root, such as the base of a robot that another node localizes.
    """

    def __init__(self, scene: OverlayScene, published: Mapping[str, TfFrame]) -> None:
        """Read a scene; `published` has the frames of /tf and /tf_static."""
        # Names of the frames that are no bodies, of all chains so far
        self.others: set[str] = set()
        self._data, self._published = scene.data, published
        model, layout = scene.model, scene.layout
        self._bodies = {name: base.body for name, base in layout.free_objects}
        self._bodies |= {
            robot.frame(model.body(body).name): body
            for robot in layout.robots
            for body in robot.bodies
        }
        self._bodies[WORLD] = 0
        self._found: dict[str, Pose | None] = {}
        self._children: dict[str, list[str]] | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of all frames, bodies first."""
        published = list(self._published)
        parents = {frame.parent for name in published if (frame := self._published.get(name))}
        return [*self._bodies, *sorted({*published, *parents} - self._bodies.keys())]

    def pose(self, frame: str) -> Pose | None:
        """Return the pose of a frame in ``world``; None if it is not known."""
        if frame not in self._found:
            self._found[frame] = self._resolve(frame.removeprefix("/"))
        return self._found[frame]

    def _resolve(self, frame: str) -> Pose | None:
        pose = Pose()
        for _ in range(_DEEPEST):
            body = self._body_pose(frame)
            if body is not None:
                return body @ pose
            self.others.add(frame)
            published = self._published.get(frame)
            if published is None:
                root = self._from_below(frame)
                return None if root is None else root @ pose
            frame = published.parent
            pose = Pose(position=published.position, quat_wxyz=published.quat_wxyz) @ pose
        return None

    def _body_pose(self, frame: str) -> Pose | None:
        body = self._bodies.get(frame)
        if body is None:
            return None
        return Pose(position=self._data.xpos[body], quat_wxyz=self._data.xquat[body])

    def _from_below(self, root: str) -> Pose | None:
        """Return the pose of a frame without parent, by the nearest body below it."""
        if self._children is None:
            self._children = {}
            for name, published in sorted(self._published.items()):
                self._children.setdefault(published.parent, []).append(name)
        searched, waiting = {root}, deque([(root, Pose())])
        while waiting and len(searched) < _MOST_BELOW:
            frame, in_root = waiting.popleft()
            for name in self._children.get(frame, ()):
                child = self._published[name]
                below = in_root @ Pose(position=child.position, quat_wxyz=child.quat_wxyz)
                body = self._body_pose(name)
                if body is not None:
                    return body @ below.inverse()
                if name not in searched:
                    searched.add(name)
                    self.others.add(name)  # so that the frames below it are received
                    waiting.append((name, below))
        return None


class PlacedText(NamedTuple):
    """A text in the scene."""

    position: np.ndarray  # its middle in ``world`` [m] (3,)
    text: str
    colour: Colour  # red, green, blue and opacity in 0..1


def placed_texts(shapes: Iterable[Shape], frames: Frames, *, most: int) -> Iterator[PlacedText]:
    """Yield the texts among the first `most` shapes whose frames are known."""
    for shape in islice(shapes, max(most, 0)):
        if shape.kind is ShapeKind.TEXT and (pose := shape.pose(frames.pose)) is not None:
            yield PlacedText(pose.position + pose.matrix @ shape.position, shape.text, shape.colour)


def drawn(
    shapes: Iterable[Shape], frames: Frames, unknown: set[str], scale: Scale, *, most: int
) -> list[mujoco.MjvGeom]:
    """Return geoms of at most `most` shapes; add unknown frames to `unknown`.

    Texts are not drawn (see `placed_texts`), nor meshes (see `MeshFiles.triangles`).
    """
    geoms: list[mujoco.MjvGeom] = []
    last, axes = Pose(), np.eye(3)
    for shape in islice(shapes, max(most, 0)):
        pose = shape.pose(frames.pose)
        if pose is None:
            unknown.add(shape.frame)
            continue
        if pose is not last:  # a matrix takes as long as half of all else
            last, axes = pose, pose.matrix
        start = pose.position + axes @ shape.position
        if shape.kind in (ShapeKind.TEXT, ShapeKind.MESH):
            continue
        if shape.kind is ShapeKind.TRIANGLE:
            geoms.append(solid(_TRIANGLE, _ONES, start, axes @ shape.axes, shape.colour))
            continue
        if shape.kind in _SOLIDS:
            half = np.maximum(0.5 * shape.size, 1e-4)
            if shape.kind is ShapeKind.CYLINDER:
                half[1] = half[2]  # MuJoCo: radius, half of the height
            geoms.append(solid(_SOLIDS[shape.kind], half, start, axes @ shape.axes, shape.colour))
            continue
        end, radius = pose.position + axes @ shape.end, 0.5 * shape.width
        if shape.kind in (ShapeKind.FORCE, ShapeKind.TORQUE):
            length = scale.force if shape.kind is ShapeKind.FORCE else scale.torque
            geoms += arrow(start, length * (end - start), radius, shape.colour)
        elif shape.kind is ShapeKind.ARROW:
            geoms += arrow(start, end - start, radius, shape.colour)
        else:
            geoms += line(start, end, radius, shape.colour)
    return geoms


_MOST, _LONGEST = 200, 60
"""Frames that are drawn, and characters of a name."""


def tf_frames(scene: OverlayScene, frames: Frames) -> tuple[list[mujoco.MjvGeom], list[PlacedText]]:
    """Return the axes and the names of all frames whose poses are known."""
    geoms: list[mujoco.MjvGeom] = []
    texts: list[PlacedText] = []
    length = frame_length(scene.model)
    for name in frames.names[:_MOST]:
        pose = frames.pose(name)
        if pose is not None:
            geoms += axes_at(pose.position, pose.matrix, length)
            texts.append(PlacedText(pose.position, printable(name[:_LONGEST]), WHITE))
    return geoms, texts
