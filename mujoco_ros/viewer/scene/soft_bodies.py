"""Flexes and skins: their vertices move with each frame."""

import struct
from collections.abc import Iterator

import mujoco
import numpy as np

from mujoco_ros.viewer.scene.assets import packed_vertices
from mujoco_ros.viewer.scene.geom_memory import SceneGeoms

_FLEX, _SKIN = int(mujoco.mjtGeom.mjGEOM_FLEX), int(mujoco.mjtGeom.mjGEOM_SKIN)
_SPHERE, _CYLINDER = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CYLINDER)


def surfaces(scene: mujoco.MjvScene, rows: np.ndarray) -> Iterator[tuple[int, bytes]]:
    """Yield the slot of each flex and skin, and its vertices.

    They are packed as vertices of a mesh (see `assets.py`), with a header: their number and whether
    they have texture coordinates. The vertices of a flex are the corners of its triangles.
    """
    for slot in np.flatnonzero((rows["type"] == _FLEX) | (rows["type"] == _SKIN)):
        row = rows[slot]
        index = row["objid"]
        if row["type"] == _SKIN:
            first, count = scene.skinvertadr[index], scene.skinvertnum[index]
            points = scene.skinvert.reshape(-1, 3)[first : first + count]
            normals = scene.skinnormal.reshape(-1, 3)[first : first + count]
            texcoords = None
        else:
            first, count = int(scene.flexfaceadr[index]), int(scene.flexfaceused[index])
            if row["dataid"] >= 0:  # a part with a material of its own
                first, count = first + int(row["size"][1]), int(row["size"][2])
            corners = slice(3 * first, 3 * (first + count))
            points = scene.flexface.reshape(-1, 3)[corners]
            normals = scene.flexnormal.reshape(-1, 3)[corners]
            texcoords = scene.flextexcoord.reshape(-1, 2)[corners] if row["texcoord"] else None
        if len(points):
            yield int(slot), _packed(points, normals, texcoords)


def _packed(points: np.ndarray, normals: np.ndarray, texcoords: np.ndarray | None) -> bytes:
    lengths = np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    box, vertices = packed_vertices(points, normals / lengths)
    head = struct.pack("<II", len(points), texcoords is not None)
    coordinates = b"" if texcoords is None else texcoords.astype("<f4").tobytes()
    return b"".join([head, box, vertices.tobytes(), coordinates])


def append_flex_parts(scene: mujoco.MjvScene, geoms: SceneGeoms) -> None:
    """Add the vertices and edges of flexes to a scene as geoms, if its options show them."""
    if not scene.nflex or not (scene.flexvertopt or scene.flexedgeopt):
        return
    for row in geoms.rows[geoms.rows["type"] == _FLEX].copy():
        index, radius = row["objid"], row["size"][0]
        if radius <= 0.0 or (scene.flexskinopt and scene.flexfaceused[index]):
            continue
        first, count = scene.flexvertadr[index], scene.flexvertnum[index]
        points = scene.flexvert.reshape(-1, 3)[first : first + count]
        row["texid"] = row["matid"] = -1
        if scene.flexvertopt:
            spheres = np.repeat(row[None], count)
            spheres["type"], spheres["size"], spheres["pos"] = _SPHERE, radius, points
            spheres["mat"] = np.eye(3).ravel()
            geoms.append_rows(spheres)
        if scene.flexedgeopt:
            begin, number = scene.flexedgeadr[index], scene.flexedgenum[index]
            ends = points[scene.flexedge.reshape(-1, 2)[begin : begin + number]]
            geoms.append_rows(_edges(ends, row, radius))


def _edges(ends: np.ndarray, row: np.ndarray, radius: float) -> np.ndarray:
    """Return cylinders between points.  # (n, 2, 3) → (n,)"""
    along = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    z = along / np.maximum(lengths, 1e-12)
    helper = np.where(np.abs(z[:, 2:]) < 0.9, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    x = np.cross(helper, z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    cylinders = np.repeat(row[None], len(ends))
    cylinders["type"], cylinders["pos"] = _CYLINDER, ends.mean(axis=1)
    cylinders["size"] = radius
    cylinders["size"][:, 2] = 0.5 * lengths[:, 0]
    cylinders["mat"] = np.stack([x, np.cross(z, x), z], axis=2).reshape(-1, 9)
    return cylinders
