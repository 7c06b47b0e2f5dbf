"""The worker process that reads the meshes that messages name, of which files may be malicious."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_access import allowed_files
from mujoco_ros.model.urdf.importing.mesh_file import read_mesh
from mujoco_ros.model.uri import resolve
from mujoco_ros.process.worker_process import serve
from mujoco_ros.viewer.file_request import FileRequest
from mujoco_ros.viewer.triangles import simplified

MOST_TRIANGLES = 500
"""Triangles of a mesh."""
LARGEST = 1 << 24
"""Largest file [byte]."""


@dataclass(frozen=True, slots=True)
class DrawnMesh:
    """Triangles of a mesh, as they are drawn.

    Attributes:
        corners: Corners of the triangles [m].  # (n, 3, 3)
        colour: Red, green, blue and opacity of the file in 0..1, if it has a colour.
        count: Number of triangles in the file.
    """

    corners: np.ndarray
    colour: tuple[float, float, float, float] | None
    count: int


def main(arguments: Sequence[str]) -> int:
    """Read meshes until the viewer ends; return the exit code."""
    return serve(arguments, lambda _setup: read_drawn_mesh)


def read_drawn_mesh(request: FileRequest) -> DrawnMesh:
    """Read a mesh.

    Raises:
        UserInputError: The URI is wrong, or the file cannot be read or must not be.
    """
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
