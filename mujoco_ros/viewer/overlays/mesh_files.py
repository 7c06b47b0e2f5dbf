"""Meshes that messages name: files, read by a process with limits, and drawn as triangles."""

import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import FileAccess, allowed_files
from mujoco_ros.model.urdf.importing.mesh_file import read_mesh
from mujoco_ros.model.uri import resolve
from mujoco_ros.process.limits import WorkerLimits, share_of_memory
from mujoco_ros.process.worker_process import serve
from mujoco_ros.viewer.file_request import FileAnswer, FileReader, FileRequest
from mujoco_ros.viewer.message_shapes import MOST_DRAWN, Shape, ShapeKind, simplified, triangle_axes

MOST_TRIANGLES = 500
"""Triangles of a mesh."""
LARGEST = 1 << 24
"""Largest file [byte]."""


@dataclass(frozen=True, slots=True)
class DrawnMesh:
    """Triangles of a mesh, as they are drawn."""

    corners: np.ndarray  # corners of the triangles [m] (n, 3, 3)
    # Red, green, blue and opacity of the file in 0..1, if it has a colour
    colour: tuple[float, float, float, float] | None
    count: int  # number of triangles in the file


def main(arguments: Sequence[str]) -> int:
    """Read meshes until the viewer ends; return the exit code."""
    return serve(arguments, lambda _setup: read_drawn_mesh)


def read_drawn_mesh(request: FileRequest) -> DrawnMesh:
    """Read a mesh, if it may be read."""
    with allowed_files(request.files):
        return _read(request.uri)


def _read(uri: str) -> DrawnMesh:
    if "://" not in uri:
        raise UserInputError("write package://<package>/<path> or file:///<absolute path>")
    path = resolve(uri, Path("/"))
    if path.is_file() and path.stat().st_size > LARGEST:
        raise UserInputError(f"'{path}' is too large: at most {LARGEST} bytes are read")
    mesh = read_mesh(path)
    vertices, faces, _ = simplified(mesh.vertices.astype(float), mesh.faces, MOST_TRIANGLES)
    if not np.isfinite(vertices).all():
        raise UserInputError(f"'{path}' has coordinates that are not finite")
    colour = None
    if mesh.rgba is not None:
        red, green, blue, opacity = mesh.rgba
        colour = red, green, blue, opacity
    return DrawnMesh(vertices[faces], colour, len(mesh.faces))


_LOG = logging.getLogger(__name__)
_MOST_FILES = 100
"""Files of a topic, files that are kept unless a shown topic uses them, and those named in logs."""
_TOO_MANY = f"its topic names more than {_MOST_FILES} files"
_LIMITS = WorkerLimits(
    processor_s=20.0,
    wall_s=120.0,
    memory_bytes=share_of_memory(8, largest=2 << 30),
    idle_s=10.0,
)
"""Limits of one file, and time without one after which the process ends."""
_ONES = np.ones(3)
_RETRY_S = 5.0  # time after which a file that cannot be read is tried again [s]
_RETRY_FACTOR = 10.0  # that time in terms of the duration of the reading, if that is longer


@dataclass(eq=False, slots=True)
class _File:
    """A file that a topic uses or has used."""

    mesh: DrawnMesh | None = None  # its mesh, once it is read
    problem: str = ""  # why it cannot be read
    reading: "Future[None] | None" = None  # of its last reading
    due_at: float = 0.0  # when it is to be read, again [s]


class _Expanded(NamedTuple):
    """What is drawn for the shapes of a topic, as long as they and the meshes are the same."""

    shapes: Sequence[Shape]
    version: int
    uris: Collection[str]
    excess: str  # the first URI of too many
    drawn: Sequence[Shape]


class MeshFiles:
    """Triangles of mesh files, read once by a process; each topic has its own number of files."""

    def __init__(self, files: FileAccess) -> None:
        self._known: dict[str, _File] = {}
        self._expanded: dict[str, _Expanded] = {}
        self._reader = FileReader(__name__, _LIMITS, files)
        self._version = 0
        self._logged: set[str] = set()

    @property
    def problems(self) -> Mapping[str, str]:
        """Why files of the shown topics cannot be drawn, by their URI."""
        topics = self._expanded.values()
        used = dict.fromkeys(uri for expanded in topics for uri in expanded.uris)
        found = {expanded.excess: _TOO_MANY for expanded in topics if expanded.excess}
        return found | {uri: file.problem for uri in used if (file := self._known[uri]).problem}

    def follow(self, topics: Collection[str]) -> None:
        """Keep what these topics use, and have their files read; call it before each frame."""
        for topic in self._expanded.keys() - set(topics):
            del self._expanded[topic]
        used = {uri for expanded in self._expanded.values() for uri in expanded.uris}
        if len(self._known) > _MOST_FILES:
            for uri in self._known.keys() - used:
                if (reading := self._known.pop(uri).reading) is not None:
                    reading.cancel()
        now = time.monotonic()
        for uri in used:
            file = self._known[uri]
            is_idle = file.reading is None or file.reading.done()
            if file.mesh is None and is_idle and now >= file.due_at:
                file.reading = self._reader.read(uri, partial(self._add, uri, file))

    def triangles(self, topic: str, shapes: Sequence[Shape]) -> Sequence[Shape]:
        """Return the shapes of a topic with triangles for meshes: for the same object, the same."""
        version = self._version  # before the meshes are used: they may arrive meanwhile
        before = self._expanded.get(topic)
        if before is not None and before.shapes is shapes and before.version == version:
            return before.drawn
        named = list(dict.fromkeys(shape.mesh for shape in shapes if shape.kind is ShapeKind.MESH))
        uris, excess = set(named[:_MOST_FILES]), "".join(named[_MOST_FILES:][:1])
        if excess:
            self._log(excess, _TOO_MANY)
        for uri in uris:
            self._known.setdefault(uri, _File())
        drawn: Sequence[Shape] = shapes
        if uris:
            drawn = []
            for shape in shapes:
                if shape.kind is not ShapeKind.MESH:
                    drawn.append(shape)
                elif shape.mesh in uris and len(drawn) <= MOST_DRAWN:
                    drawn += self._triangles(shape)
        self._expanded[topic] = _Expanded(shapes, version, uris, excess, drawn)
        return drawn

    def close(self) -> None:
        """End the process."""
        self._reader.close()

    def _triangles(self, shape: Shape) -> Iterator[Shape]:
        mesh = self._known[shape.mesh].mesh
        if mesh is None:
            return
        corners = shape.position + (mesh.corners * shape.size) @ shape.axes.T
        has_area, axes = triangle_axes(corners)
        colour = (mesh.colour if shape.has_file_colour else None) or shape.colour
        for first, edges in zip(corners[has_area, 0], axes, strict=True):
            triangle = replace(shape, kind=ShapeKind.TRIANGLE, position=first, axes=edges)
            yield replace(triangle, size=_ONES, colour=colour, mesh="")

    def _add(self, uri: str, file: _File, answer: FileAnswer) -> None:
        """Keep the answer; called in another thread."""
        file.mesh, file.problem = answer.content, answer.problem
        if file.mesh is not None and file.mesh.count > MOST_TRIANGLES:
            _LOG.warning(
                "the mesh '%s' of a marker has %d triangles: near vertices are merged, so that it "
                "is drawn with %d",
                *(uri, file.mesh.count, len(file.mesh.corners)),
            )
        if file.problem:
            self._log(uri, file.problem)
        file.due_at = time.monotonic() + max(_RETRY_S, _RETRY_FACTOR * answer.seconds)
        self._version += file.mesh is not None

    def _log(self, uri: str, problem: str) -> None:
        """Log a problem once for each of the first files that have one."""
        if uri not in self._logged and len(self._logged) < _MOST_FILES:
            self._logged.add(uri)
            _LOG.warning("the mesh '%s' of a marker is not drawn: %s", uri, problem)
