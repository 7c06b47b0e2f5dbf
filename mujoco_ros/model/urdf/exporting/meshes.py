"""Meshes of an exported URDF: source files, triangles of other shapes, and their cache."""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from mujoco_ros.model.file_access import read_file
from mujoco_ros.model.file_cache import LIMIT_BYTES, FileCache, user_folder
from mujoco_ros.model.pose import Pose

_LOGGER = logging.getLogger(__name__)


class MeshCache:
    """A folder of STL files, named by their content."""

    def __init__(self, folder: Path, limit_bytes: int | None = None) -> None:
        self._files = FileCache(folder, ".stl", limit_bytes)
        self._warned = False

    @property
    def folder(self) -> Path:
        """Return the folder."""
        return self._files.folder

    def store(self, content: bytes) -> Path | None:
        """Return the path of an STL file; None, with a warning, if it cannot be written."""
        name = hashlib.sha256(content).hexdigest()[:32]
        try:
            path = self._files.find(name)
            if path is not None and path.stat().st_size == len(content):
                return path
            return self._files.write(name, content)
        except OSError as error:
            if not self._warned:
                _LOGGER.warning(
                    "meshes cannot be written to '%s' (%s), so robot_description lacks the shapes "
                    "that have no file; set XDG_CACHE_HOME to a folder that can be written to",
                    self.folder,
                    error.strerror,
                )
            self._warned = True
            return None


def user_cache() -> MeshCache:
    """Return the cache of the user."""
    return MeshCache(user_folder("meshes"), LIMIT_BYTES)


STL_FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attributes", "<u2")])
_HEADER = 80  # bytes, which readers ignore
_MERIDIANS, _PARALLELS = 48, 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Triangles:
    """A surface: vertices [m], and the vertices of triangles, counterclockwise from outside."""

    vertices: NDArray[np.float32]  # (n, 3)
    faces: NDArray[np.int32]  # (m, 3)

    def stl(self) -> bytes:
        """Return a binary STL file; equal triangles give equal bytes."""
        corners = self.vertices[self.faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        facets = np.zeros(len(self.faces), dtype=STL_FACET)
        facets["normal"] = np.divide(
            normals, lengths, where=lengths > 0, out=np.zeros_like(normals)
        )
        facets["corners"] = corners
        count = len(facets).to_bytes(4, "little")
        return bytes(_HEADER) + count + facets.tobytes()


def mesh_triangles(model: mujoco.MjModel, mesh: int) -> Triangles:
    """Return a compiled mesh: scaled, and in the frame of its geoms."""
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return Triangles(
        vertices=model.mesh_vert[first : first + count].astype(np.float32),
        faces=model.mesh_face[face : face + faces].astype(np.int32),
    )


def height_field_triangles(model: mujoco.MjModel, field: int) -> Triangles:
    """Return the upper surface of a height field in the frame of its geoms."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    half_x, half_y, height, _ = model.hfield_size[field]
    first = int(model.hfield_adr[field])
    heights = model.hfield_data[first : first + rows * columns] * height
    y, x = np.meshgrid(
        np.linspace(-half_y, half_y, rows), np.linspace(-half_x, half_x, columns), indexing="ij"
    )
    return Triangles(
        vertices=np.column_stack([x.ravel(), y.ravel(), heights]).astype(np.float32),
        faces=_grid(rows, columns),
    )


@cache
def unit_sphere() -> Triangles:
    """Return a sphere of radius 1; ellipsoids are scaled copies."""
    polar = np.linspace(np.pi, 0.0, _PARALLELS + 1)  # from the lower pole to the upper
    azimuth = np.linspace(0.0, 2 * np.pi, _MERIDIANS + 1)
    theta, phi = np.meshgrid(polar, azimuth, indexing="ij")
    vertices = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    faces = _grid(_PARALLELS + 1, _MERIDIANS + 1)
    points = vertices.reshape(3, -1).T.round(7)
    corners = points[faces]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = np.linalg.norm(area, axis=1) < 1e-9  # degenerate triangles at the poles
    return Triangles(vertices=points.astype(np.float32), faces=faces[~flat])


def _grid(rows: int, columns: int) -> NDArray[np.int32]:
    """Return two triangles for each cell of a grid of vertices, stored row by row."""
    here = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    right, above = here + 1, here + columns
    lower = np.column_stack([here, right, above + 1])
    upper = np.column_stack([here, above + 1, above])
    return np.concatenate([lower, upper]).astype(np.int32)


Points = NDArray[np.float64]

_SAMPLES = 32
_TOLERANCE = 1e-5  # of the mesh's size; its vertices are in single precision
_STL_HEADER = 84


def mesh_file(model: mujoco.MjModel, mesh: int) -> Path | None:
    """Return the absolute path of a mesh's file, which need not exist; None if it has none."""
    address = int(model.mesh_pathadr[mesh])
    if address < 0:
        return None
    name = model.paths[address : model.paths.index(b"\0", address)].decode()
    return Path(name).resolve()


def file_pose(model: mujoco.MjModel, mesh: int) -> Pose:
    """Return the pose of a mesh's file in a geom; the compiler moves meshes to their centre."""
    return Pose(position=model.mesh_pos[mesh], quat_wxyz=model.mesh_quat[mesh]).inverse()


def equals_file(model: mujoco.MjModel, mesh: int, path: Path) -> bool:
    """Whether a mesh's file, scaled and at `file_pose`, equals the mesh of the model.

    It differs if the model moves the mesh (``refpos``, ``refquat``), which a compiled model does
    not contain; if the file has changed; or if only MuJoCo reads its format.
    """
    read = _READERS.get(path.suffix.lower())
    if read is None:
        return False
    try:
        points = read(read_file(path))
    except ValueError:  # also UserInputError
        return False
    if not len(points):
        return False
    pose = file_pose(model, mesh)
    drawn = points * model.mesh_scale[mesh] @ pose.matrix.T + pose.position
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    vertices = model.mesh_vert[first : first + count].astype(np.float64)
    reach = _TOLERANCE * float(np.linalg.norm(np.ptp(vertices, axis=0)))
    squares = (drawn**2).sum(axis=1)[:, None] + (vertices**2).sum(axis=1)
    nearest = (squares - 2 * drawn @ vertices.T).min(axis=1)  # squared distances
    return bool((nearest <= reach**2).all())


def _stl_points(content: bytes) -> Points:
    facets = np.frombuffer(content, STL_FACET, offset=_STL_HEADER)
    points = facets["corners"].reshape(-1, 3)
    return points[_chosen(len(points))].astype(np.float64)


def _obj_points(content: bytes) -> Points:
    lines = [line for line in content.splitlines() if line.startswith((b"v ", b"v\t"))]
    chosen = [lines[i] for i in _chosen(len(lines))]
    return np.array([[float(word) for word in line.split()[1:4]] for line in chosen])


def _chosen(count: int) -> NDArray[np.intp]:
    return np.arange(0, count, max(1, count // _SAMPLES), dtype=np.intp)


_READERS: dict[str, Callable[[bytes], Points]] = {".stl": _stl_points, ".obj": _obj_points}
