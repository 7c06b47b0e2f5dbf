"""Triangles that are drawn one by one, and meshes with fewer of them."""

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

_CELLS = (64, 48, 32, 24, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2)
"""Cells along the longest side of a mesh, from which that with few enough triangles is chosen."""
_SMALLEST = 1e-12
"""Area below which a triangle is not drawn [m²]."""


def triangle_axes(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how triangles are drawn, without those that have no area.

    MuJoCo's triangle has corners in the origin, on the x axis and on the y axis; its normal is z.

    Args:
        corners: Corners of the triangles [m].  # (n, 3, 3)

    Returns:
        Which triangles have an area, and their axes: both edges at the first corner [m] and the
        normal, as columns.  # (n,) bool, (m, 3, 3)
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
    """Return a mesh of at most `most` triangles: near vertices are merged into their mean.

    Args:
        vertices: [m].  # (n, 3)
        faces: Indices of the vertices of each triangle.  # (m, 3)
        most: Triangles above which vertices are merged.

    Returns:
        Vertices, faces, and the index of each face among the given ones.
    """
    kept = np.arange(len(faces))
    if len(faces) <= most:
        return vertices, faces, kept
    # The number of triangles grows with that of the cells, but for exceptions.
    index = bisect_left(_CELLS, True, key=lambda it: len(_merged(vertices, faces, it)[2]) <= most)
    merged, cells_of, kept = _merged(vertices, faces, _CELLS[min(index, len(_CELLS) - 1)])
    kept = kept[:most]
    return merged, cells_of[faces[kept]], kept


def _merged(
    vertices: np.ndarray, faces: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, NDArray[np.intp]]:
    """Merge the vertices in each of `count` cells along the longest side.

    Returns:
        Merged vertices, their indices for the given ones, and the faces that keep three corners,
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
