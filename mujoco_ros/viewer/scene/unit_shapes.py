"""The unit shapes of MuJoCo's renderer, and the surface of a height field, as triangles.

A page scales x and y of a unit shape with the first two components of the size of its geom, and z
with the third. Vertices of a cap are scaled with the radius instead, and shifted by the third.
"""

from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np

_GEOM = mujoco.mjtGeom
INFINITE_PLANE = 2000
"""Type of the shape of an infinite plane: a disk that reaches to the horizon."""


class Surface(NamedTuple):
    """Corners of triangles, or of lines."""

    points: np.ndarray  # (n, 3)
    normals: np.ndarray  # (n, 3)
    texcoords: np.ndarray  # (n, 2)
    # Whether each is of a cap, and the shift of the cap, -1 or 1 (n, 2)
    caps: np.ndarray


_Parts = list[tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]]


def unit_shapes(slices: int, stacks: int) -> dict[int, Surface]:
    """Return the shapes by type of geom, as finely divided as the model's visual quality says."""
    sphere = _surface([_sphere(slices, stacks, -1.0, 1.0)])
    half = stacks // 2
    return {
        int(_GEOM.mjGEOM_PLANE): _surface([_plane()]),
        INFINITE_PLANE: _horizon(4 * slices),
        int(_GEOM.mjGEOM_SPHERE): sphere,
        int(_GEOM.mjGEOM_ELLIPSOID): sphere,
        int(_GEOM.mjGEOM_CAPSULE): _surface(
            [
                _tube(slices, -1.0, 1.0),
                _sphere(slices, half, 0.0, 1.0, shift=1),
                _sphere(slices, half, -1.0, 0.0, shift=-1),
            ]
        ),
        int(_GEOM.mjGEOM_CYLINDER): _surface(
            [_disk(slices, -1.0, -1), _tube(slices, -1.0, 1.0), _disk(slices, 1.0, 1)]
        ),
        int(_GEOM.mjGEOM_BOX): _surface(_box()),
        int(_GEOM.mjGEOM_ARROW): _surface(_arrow(slices, 1.75)),
        int(_GEOM.mjGEOM_ARROW1): _surface(_arrow(slices, 1.0)),
        int(_GEOM.mjGEOM_ARROW2): _surface(
            [
                _tube(slices, -1 / 3, 1 / 3),
                *_cone(slices, -1 / 3, -1 / 6, 1.75),
                *_cone(slices, 1 / 3, 1 / 6, 1.75),
            ]
        ),
        int(_GEOM.mjGEOM_LINE): _lines(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])),
        int(_GEOM.mjGEOM_LINEBOX): _lines(_box_edges()),
    }


def height_field(heights: np.ndarray, size: np.ndarray) -> Surface:
    """Return a height field with flat facets, sides and a bottom; `size` is as ``hfield_size``."""
    rows, columns = heights.shape
    x, y, top, base = size
    xs, ys = np.meshgrid(np.linspace(-x, x, columns), np.linspace(-y, y, rows))
    grid = np.stack([xs, ys, top * heights], axis=2)  # (rows, columns, 3)
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, :-1], grid[1:, 1:]
    quads = [np.stack([c, a, d, a, b, d], axis=2).reshape(-1, 3)]
    # Around the sides, so that the inside is to the left as seen from above.
    for edge in (grid[0], grid[:, -1], grid[-1, ::-1], grid[::-1, 0]):
        low = edge * (1.0, 1.0, 0.0) - (0.0, 0.0, base)
        p, q, r, s = low[:-1], low[1:], edge[1:], edge[:-1]
        quads.append(np.stack([p, q, r, p, r, s], axis=1).reshape(-1, 3))
    corners = np.array([[-x, -y], [-x, y], [x, y], [x, -y]])[[0, 1, 2, 0, 2, 3]]
    quads.append(np.column_stack([corners, np.full(6, -base)]))
    points = np.concatenate(quads)
    triangles = points.reshape(-1, 3, 3)
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    none = np.zeros((len(points), 2))
    return Surface(points, np.repeat(normals, 3, axis=0), none, none)


def _surface(parts: _Parts) -> Surface:
    caps = [np.tile(cap, (len(points), 1)) for points, _, _, cap in parts]
    points, normals, texcoords = (
        np.concatenate([part[index] for part in parts]) for index in range(3)
    )
    return Surface(points, normals, texcoords, np.concatenate(caps))


_Vertex = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def _grid(
    columns: int, rows: int, vertex: _Vertex, cap: tuple[int, int] = (0, 0)
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return triangles between the vertices of a grid with coordinates in 0..1, seen from outside.

    `vertex` returns positions, normals and texture coordinates of such coordinates.
    """
    i, j = (each.ravel() for each in np.meshgrid(np.arange(columns), np.arange(rows)))
    s = np.stack([i, i + 1, i + 1, i, i + 1, i], axis=1).ravel() / columns
    t = np.stack([j, j, j + 1, j, j + 1, j + 1], axis=1).ravel() / rows
    points, normals, texcoords = vertex(s, t)
    triangles = points.reshape(-1, 3, 3)
    edges = triangles[:, 1:] - triangles[:, :1]
    area = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    kept = np.repeat(area > 1e-9, 3)  # no triangles without area, at poles
    return points[kept], normals[kept], texcoords[kept], cap


def _circle(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.cos(2.0 * np.pi * s), np.sin(2.0 * np.pi * s)


def _plane() -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    def vertex(s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y = 2.0 * s - 1.0, 2.0 * t - 1.0
        return (
            np.stack([x, y, 0 * x], 1),
            np.stack([0 * x, 0 * x, 0 * x + 1], 1),
            np.stack([x, y], 1),
        )

    return _grid(1, 1, vertex)


def _horizon(slices: int) -> Surface:
    disk = _surface([_disk(slices, 0.0, 1)])
    return disk._replace(texcoords=disk.points[:, :2])


def _sphere(
    slices: int, stacks: int, low: float, high: float, shift: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return a part of a sphere between two elevations, in right angles."""

    def vertex(s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        share = low + (high - low) * t
        (x, y), height = _circle(s), np.sin(0.5 * np.pi * share)
        ring = np.cos(0.5 * np.pi * share)
        points = np.stack([x * ring, y * ring, height], axis=1)
        v = (1.0 - share if shift > 0 else -share) if shift else 0.5 * (1.0 - share)
        return points, points, np.stack([s, v], axis=1)

    return _grid(slices, stacks, vertex, (int(shift != 0), shift))


def _tube(
    slices: int, low: float, high: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    def vertex(s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y = _circle(s)
        points = np.stack([x, y, low + (high - low) * t], axis=1)
        return points, np.stack([x, y, 0 * x], axis=1), np.stack([s, 1.0 - t], axis=1)

    return _grid(slices, 1, vertex)


def _disk(
    slices: int, z: float, side: int, radius: float = 1.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return a disk that faces up (1) or down (-1)."""

    def vertex(s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        x, y = (component * (1.0 - t if side > 0 else t) for component in _circle(s))
        points = np.stack([radius * x, radius * y, 0 * x + z], axis=1)
        normals = np.stack([0 * x, 0 * x, 0 * x + side], axis=1)
        return points, normals, np.stack([0.5 + 0.5 * x, 0.5 + 0.5 * y], axis=1)

    return _grid(slices, 1, vertex)


def _cone(slices: int, z: float, height: float, radius: float) -> _Parts:
    """Return a cone with its base at `z` that points upwards, or downwards if `height` is < 0."""
    side = 1 if height > 0.0 else -1

    def vertex(s: np.ndarray, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        share = 1.0 - t if side > 0 else t
        x, y = _circle(s)
        points = np.stack([radius * x * share, radius * y * share, z + height * (1 - share)], 1)
        normals = np.stack([x / radius, y / radius, 0 * x + 1.0 / height], axis=1)
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        return points, normals, np.stack([s, share], axis=1)

    return [_grid(slices, 4, vertex), _disk(slices, z, -side, radius)]


def _arrow(slices: int, radius: float) -> _Parts:
    return [
        *(_disk(slices, 0.0, -1), _tube(slices, 0.0, 1 / 3), _disk(slices, 1 / 3, 1)),
        *_cone(slices, 1 / 3, 1 / 6, radius),
    ]


def _box() -> _Parts:
    parts = []
    for axis, first, second in ((2, 0, 1), (0, 1, 2), (1, 0, 2)):
        for side in (1, -1):
            is_mirrored = (side > 0) == (axis == 1)

            def vertex(
                s: np.ndarray,
                t: np.ndarray,
                at: tuple[int, int, int] = (axis, first, second),
                side: int = side,
                is_mirrored: bool = is_mirrored,
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
                points, normals = np.zeros((2, len(s), 3))
                points[:, at[0]] = normals[:, at[0]] = side
                points[:, at[1]] = (1.0 - 2.0 * s) if is_mirrored else (2.0 * s - 1.0)
                points[:, at[2]] = 2.0 * t - 1.0
                u, v = 0.5 + 0.5 * points[:, at[1]], 0.5 - 0.5 * points[:, at[2]]
                return points, normals, np.stack([u, v], axis=1)

            parts.append(_grid(1, 1, vertex))
    return parts


def _box_edges() -> np.ndarray:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    starts, ends = np.nonzero(np.triu(np.abs(corners[:, None] - corners[None]).sum(axis=2) == 2.0))
    return np.stack([corners[starts], corners[ends]], axis=1).reshape(-1, 3)


def _lines(points: np.ndarray) -> Surface:
    none = np.zeros((len(points), 2))
    return Surface(points, np.tile((0.0, 0.0, 1.0), (len(points), 1)), none, none)
