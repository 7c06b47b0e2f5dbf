"""Triangle meshes of shapes that URDF does not have, and their STL files."""

from dataclasses import dataclass
from functools import cache

import mujoco
import numpy as np
from numpy.typing import NDArray

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
