"""Meshes that messages name: files, read in a thread of their own, and drawn as triangles."""

import logging
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Full, Queue

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.model.urdf.importing.mesh_file import read_mesh
from mujoco_ros.model.uri import resolve
from mujoco_ros.viewer.message_shapes import Shape, ShapeKind
from mujoco_ros.viewer.style import Colour
from mujoco_ros.viewer.triangles import simplified, triangle_axes

_LOG = logging.getLogger(__name__)
MOST_TRIANGLES = 500
"""Triangles of a mesh."""
_MOST_FILES = 100
"""Files that are kept."""
_LARGEST = 1 << 24
"""Largest file [byte]: reading one of many holds Python's lock for long."""


@dataclass(frozen=True, slots=True)
class _Mesh:
    corners: np.ndarray  # (n, 3, 3) [m]
    colour: Colour | None


class MeshFiles:
    """Triangles of mesh files, which are read once, at their first use.

    Attributes:
        problems: Why files cannot be drawn, by their URI; replaced, never changed.
    """

    def __init__(self, files: FileAccess) -> None:
        """Read what `files` allows clients."""
        self.problems: Mapping[str, str] = {}
        self._files = files
        self._meshes: dict[str, _Mesh | None] = {}  # None while it is read, or cannot be
        self._expanded: dict[str, tuple[Sequence[Shape], int, Sequence[Shape]]] = {}
        self._waiting: Queue[str] = Queue(_MOST_FILES)
        self._count = 0
        self._thread: threading.Thread | None = None

    def triangles(self, topic: str, shapes: Sequence[Shape], most: int) -> Sequence[Shape]:
        """Return the shapes of a topic with triangles instead of the meshes that are read.

        Args:
            topic: The topic.
            shapes: Its shapes; the same object if they are the same.
            most: Number of shapes after which further meshes need no triangles.
        """
        count = self._count  # before the meshes are used: they may arrive meanwhile
        before = self._expanded.get(topic)
        if before is not None and before[0] is shapes and before[1] == count:
            return before[2]
        expanded: Sequence[Shape] = shapes
        if any(it.kind is ShapeKind.MESH for it in shapes):
            expanded = []
            for it in shapes:
                if it.kind is not ShapeKind.MESH:
                    expanded.append(it)
                elif len(expanded) <= most:
                    expanded += self._triangles(it)
        self._expanded[topic] = shapes, count, expanded
        return expanded

    def forget(self, topics: Collection[str]) -> None:
        """Drop the triangles of all but these topics."""
        for topic in self._expanded.keys() - set(topics):
            del self._expanded[topic]

    def _triangles(self, shape: Shape) -> Iterator[Shape]:
        mesh = self._find(shape.mesh)
        if mesh is None:
            return
        corners = shape.position + (mesh.corners * shape.size) @ shape.axes.T
        has_area, axes = triangle_axes(corners)
        colour = (mesh.colour if shape.has_file_colour else None) or shape.colour
        for first, edges in zip(corners[has_area, 0], axes, strict=True):
            yield replace(
                shape, kind=ShapeKind.TRIANGLE, position=first, axes=edges, colour=colour, mesh=""
            )

    def _find(self, uri: str) -> _Mesh | None:
        """Return a mesh, or have it read."""
        if uri in self._meshes:
            return self._meshes[uri]
        if len(self._meshes) >= _MOST_FILES:
            self._note(uri, f"more than {_MOST_FILES} files")
            return None
        try:
            self._waiting.put_nowait(uri)
        except Full:
            return None  # again in the next frame
        self._meshes[uri] = None
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="mesh files", daemon=True)
            self._thread.start()
        return None

    def _run(self) -> None:
        while True:
            uri = self._waiting.get()
            try:
                with self._files.for_client():
                    self._meshes[uri] = _read(uri)
                self._count += 1
            except UserInputError as error:
                self._note(uri, str(error))
            except Exception as error:
                self._note(uri, f"{type(error).__name__}: {error}")

    def _note(self, uri: str, problem: str) -> None:
        if uri not in self.problems and len(self.problems) < _MOST_FILES:
            _LOG.warning("the mesh '%s' of a marker is not drawn: %s", uri, problem)
            self.problems = {**self.problems, uri: problem}


def _read(uri: str) -> _Mesh:
    if "://" not in uri:
        raise UserInputError("write package://<package>/<path> or file:///<absolute path>")
    path = resolve(uri, Path("/"))
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise UserInputError(f"'{path}' is too large: at most {_LARGEST} bytes are read")
    mesh = read_mesh(path)
    vertices, faces, _ = simplified(mesh.vertices.astype(float), mesh.faces, MOST_TRIANGLES)
    if not np.isfinite(vertices).all():
        raise UserInputError(f"'{path}' has coordinates that are not finite")
    if len(mesh.faces) > MOST_TRIANGLES:
        _LOG.warning(
            "the mesh '%s' of a marker has %d triangles: near vertices are merged, so that it is "
            "drawn with %d",
            *(uri, len(mesh.faces), len(faces)),
        )
    if mesh.rgba is None:
        return _Mesh(vertices[faces], None)
    red, green, blue, opacity = mesh.rgba
    return _Mesh(vertices[faces], (red, green, blue, opacity))
