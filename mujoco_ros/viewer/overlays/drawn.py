"""Shapes of the messages of topics, in the frames of the scene, and these frames."""

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.colours import WHITE
from mujoco_ros.viewer.message_shapes import Shape, ShapeKind, TfFrame, printable
from mujoco_ros.viewer.overlays.shapes import Scale, arrow, axes_at, frame_length, label, solid

WORLD = "world"
_DEEPEST = 50  # longest chain of frames
_MOST_BELOW = 100  # most frames below a root that are searched for a body


class Frames:
    """Poses of TF frames in a scene: its bodies, and frames of /tf and /tf_static on them.

    A frame whose chain ends in a root that is no body, such as ``map``, is placed by the first body
    below that root, such as the base of a robot that another node localizes.
    """

    def __init__(self, state: SharedState, published: Mapping[str, TfFrame]) -> None:
        """Read a state; `published` has the frames of /tf and /tf_static."""
        # Names of the frames that are no bodies, of all chains so far
        self.others: set[str] = set()
        self._data, self._published = state.data, published
        model, layout = state.model, state.layout
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
            frame, pose = published.parent, published.pose @ pose
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
                below = in_root @ self._published[name].pose
                body = self._body_pose(name)
                if body is not None:
                    return body @ below.inverse()
                if name not in searched:
                    searched.add(name)
                    self.others.add(name)  # so that the frames below it are received
                    waiting.append((name, below))
        return None


def drawn(
    shapes: Iterable[Shape], frames: Frames, unknown: set[str], scale: Scale, *, most: int
) -> list[mujoco.MjvGeom]:
    """Return geoms of at most `most` shapes; add unknown frames to `unknown`.

    Meshes are not drawn (see `MeshFiles.triangles`).
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
        position = pose.position + axes @ shape.position
        if shape.kind is ShapeKind.TEXT:
            geoms.append(label(shape.text, position, shape.colour))
        elif shape.scale:
            vector = getattr(scale, shape.scale) * shape.size[2] * (axes @ shape.axes[:, 2])
            geoms += arrow(position, vector, float(shape.size[0]), shape.colour)
        elif shape.kind is not ShapeKind.MESH:
            geoms.append(solid(shape.kind, shape.size, position, axes @ shape.axes, shape.colour))
    return geoms


_MOST, _LONGEST = 200, 60
"""Frames that are drawn, and characters of a name."""


def tf_frames(state: SharedState, frames: Frames) -> list[mujoco.MjvGeom]:
    """Return the axes and the names of all frames whose poses are known."""
    geoms: list[mujoco.MjvGeom] = []
    length = frame_length(state.model)
    for name in frames.names[:_MOST]:
        pose = frames.pose(name)
        if pose is not None:
            geoms += axes_at(pose.position, pose.matrix, length)
            geoms.append(label(printable(name[:_LONGEST]), pose.position, WHITE))
    return geoms
