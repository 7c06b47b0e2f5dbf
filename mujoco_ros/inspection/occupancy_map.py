"""Occupancy maps of a scene: which cells of a slice are solid, free, or enclosed and unknown."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import mujoco
import numpy as np
from scipy.ndimage import label
from scipy.spatial import ConvexHull

from mujoco_ros.model.errors import UserInputError

OCCUPIED, FREE, UNKNOWN = 0, 254, 205
"""Pixels of a map, as map_saver of Nav2 writes them."""
MAX_CELLS = 100_000_000
_ROUNDNESS = 64  # corners of a circle
_REACH = 0.499  # from the middle of a cell, in cells
_Hull = tuple[np.ndarray, np.ndarray]
"""Corners (n, 3), and the half spaces (m, 4) that contain a point p where n·p + d <= 0."""


@dataclass(frozen=True, kw_only=True)
class OccupancyMap:
    """A grid of cells, seen from above; the first row of `pixels` has the largest y."""

    pixels: np.ndarray  # (height, width) uint8
    resolution: float  # edge of a cell [m]
    origin: tuple[float, float]  # lower left corner of the lower left cell [m]


def occupancy_map(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    bodies: Iterable[int],
    heights: tuple[float, float],
    resolution: float,
    seed: tuple[float, float] | None,
    margin: float = 0.5,
) -> OccupancyMap:
    """Return the map of a slice between two heights [m].

    Args:
        model: The scene.
        data: Its poses, up to date.
        bodies: The bodies whose colliding shapes are solid. Floors that are planes are free.
        heights: Lower and upper end of the slice; a shape is solid that reaches into it.
        resolution: Edge of a cell [m].
        seed: A free point [m]; cells that are not connected with it are unknown. If it is within
            the outline of all that is solid, cells beyond are unknown, too. None for none.
        margin: Free space around all [m].

    Raises:
        UserInputError: Nothing is in the slice, the map is too large, or the seed is not free.
    """
    owned = set(bodies)
    hulls = [
        hull
        for geom in range(model.ngeom)
        if int(model.geom_bodyid[geom]) in owned
        and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        for hull in _hulls(model, data, geom)
        if hull[0][:, 2].min() <= heights[1] and hull[0][:, 2].max() >= heights[0]
    ]
    if not hulls:
        low, high = heights
        where = f"at {low:g} m" if low == high else f"between {low:g} and {high:g} m"
        raise UserInputError(f"nothing is {where}")
    corners = np.concatenate([points[:, :2] for points, _ in hulls])
    low = np.floor((corners.min(axis=0) - margin) / resolution).astype(int)
    high = np.ceil((corners.max(axis=0) + margin) / resolution).astype(int)
    width, height = (high - low).tolist()
    if width * height > MAX_CELLS:
        raise UserInputError(
            f"the map has {width} x {height} cells, more than {MAX_CELLS}; use a larger resolution"
        )
    solid = np.zeros((height, width), dtype=bool)
    for hull in hulls:
        _mark(solid, hull, heights, low * resolution, resolution)
    pixels = np.where(solid, OCCUPIED, FREE).astype(np.uint8)
    if seed is not None:
        column, row = (np.floor(np.array(seed) / resolution).astype(int) - low).tolist()
        if not (0 <= row < height and 0 <= column < width) or solid[row, column]:
            raise UserInputError(f"the point ({seed[0]:g}, {seed[1]:g}) is not free in this slice")
        regions, _ = label(~solid)
        pixels[~solid & (regions != regions[row, column])] = UNKNOWN
        inside = _outline(solid)
        if inside[row, column]:  # as of a hall with an open gate
            pixels[~inside] = UNKNOWN
    x, y = (low * resolution).tolist()
    return OccupancyMap(pixels=pixels[::-1], resolution=resolution, origin=(x, y))


def _outline(solid: np.ndarray) -> np.ndarray:
    """Return which cells are in the convex hull of the solid ones.  # (height, width)"""
    height, width = solid.shape
    rows = np.flatnonzero(solid.any(axis=1))
    first, last = solid[rows].argmax(axis=1), width - solid[rows, ::-1].argmax(axis=1)
    ends = [(column, row) for column in (first, last) for row in (rows, rows + 1)]
    corners = np.concatenate([np.stack(end, axis=1) for end in ends])
    x, y = np.arange(width) + 0.5, np.arange(height) + 0.5
    inside = np.ones_like(solid)
    for nx, ny, d in np.unique(ConvexHull(corners).equations.round(12), axis=0):
        inside &= nx * x[None, :] + ny * y[:, None] + d <= 0.0
    return inside


def _mark(
    solid: np.ndarray, hull: _Hull, heights: tuple[float, float], low: np.ndarray, size: float
) -> None:
    """Mark the cells in which a hull reaches into the slice."""
    corners, spaces = hull
    first = np.maximum(np.floor((corners.min(axis=0)[:2] - low) / size).astype(int), 0)
    last = np.ceil((corners.max(axis=0)[:2] - low) / size).astype(int) + 1
    columns, rows = (
        np.arange(a, min(b, n)) for a, b, n in zip(first, last, solid.shape[::-1], strict=True)
    )
    x, y = low[0] + (columns + 0.5) * size, low[1] + (rows + 0.5) * size
    bottom = np.full((len(rows), len(columns)), heights[0])
    top = np.full_like(bottom, heights[1])
    inside = np.ones_like(bottom, dtype=bool)
    for nx, ny, nz, d in spaces:
        # Of the cell, n·p + d <= 0 leaves one side. Shapes that end at its edge are not in it.
        rest = nx * x[None, :] + ny * y[:, None] + d - _REACH * size * (abs(nx) + abs(ny))
        if abs(nz) < 1e-9:
            inside &= rest <= 0.0
        elif nz > 0.0:
            np.minimum(top, -rest / nz, out=top)
        else:
            np.maximum(bottom, -rest / nz, out=bottom)
    if inside.size:
        part = solid[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        part |= inside & (bottom <= top)


def _hulls(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Iterator[_Hull]:
    """Yield the convex hull of a geom in the world; a height field has one for each cell."""
    turn, place = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
    for points in _corners(model, geom):
        hull = ConvexHull(points @ turn.T + place)
        yield hull.points[hull.vertices], np.unique(hull.equations.round(12), axis=0)


def _corners(model: mujoco.MjModel, geom: int) -> Iterator[np.ndarray]:
    """Yield corners in the frame of a geom.  # (n, 3)"""
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    angles = np.linspace(0.0, 2.0 * np.pi, _ROUNDNESS, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    up = np.array([0.0, 0.0, 1.0])
    signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
    slopes = np.linspace(-np.pi / 2, np.pi / 2, _ROUNDNESS // 2 + 1)
    ball = np.concatenate([np.cos(s) * circle + np.sin(s) * up for s in slopes])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        yield signs * size
    elif kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        yield np.concatenate([size[0] * circle + end * size[1] * up for end in (-1, 1)])
    elif kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        yield np.concatenate([size[0] * ball + end * size[1] * up for end in (-1, 1)])
    elif kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        yield size[0] * ball
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        yield size * ball
    elif kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        yield model.mesh_vert[first : first + count].astype(float)
    elif kind == mujoco.mjtGeom.mjGEOM_HFIELD:
        yield from _columns(model, int(model.geom_dataid[geom]))


def _columns(model: mujoco.MjModel, field: int) -> Iterator[np.ndarray]:
    """Yield a prism for each cell of a height field."""
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    first = int(model.hfield_adr[field])
    heights = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
    half_x, half_y, top, base = model.hfield_size[field]
    x, y = np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows)
    for row in range(rows - 1):
        for column in range(columns - 1):
            corners = [(row + i, column + j) for i in (0, 1) for j in (0, 1)]
            yield np.array(
                [(x[j], y[i], z) for i, j in corners for z in (-base, top * heights[i, j])]
            )
