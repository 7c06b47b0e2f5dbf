"""What a page loads once: meshes, textures, height fields and skins, named by their contents."""

import gzip
import hashlib
import struct
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np

_SMOOTH = 0.8  # least cosine between the normals of a vertex and a face that MuJoCo smooths
_TEXTURE_2D = int(mujoco.mjtTexture.mjTEXTURE_2D)
_SKYBOX = int(mujoco.mjtTexture.mjTEXTURE_SKYBOX)
_PNG_COLOURS = {1: 0, 3: 2, 4: 6}
"""Colour types of PNG by the number of channels (W3C, Portable Network Graphics, 11.2.2)."""
_PNG_SUB = 1  # filter of a row (9.2)
_SRGB = int(mujoco.mjtColorSpace.mjCOLORSPACE_SRGB)


class Surface(NamedTuple):
    """Corners of triangles."""

    points: np.ndarray  # (n, 3)
    normals: np.ndarray  # (n, 3)
    texcoords: np.ndarray  # (n, 2)


class Asset(NamedTuple):
    """The body of a response."""

    content: bytes
    media_type: str
    encoding: str | None  # of the content, if it is compressed


Build = Callable[[], Asset]


class Assets:
    """The assets of a model, built when they are first requested."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._builds: dict[str, Build] = {}
        self._built: dict[str, Asset] = {}
        self.description: dict[str, Any] = {  # of the model, with the names of its assets
            "meshes": [self._mesh_names(model, mesh) for mesh in range(model.nmesh)],
            "hfields": [self._hfield_name(model, field) for field in range(model.nhfield)],
            "skins": [self._skin_name(model, skin) for skin in range(model.nskin)],
            "textures": [self._texture(model, texture) for texture in range(model.ntex)],
        }

    def get(self, name: str) -> Asset | None:
        """Return an asset; None if there is none with this name. Takes up to a second."""
        build = self._builds.get(name)
        if build is not None and name not in self._built:
            self._built[name] = build()
        return self._built.get(name)

    def take_from(self, other: "Assets") -> None:
        """Keep what was built for another model."""
        self._built |= {name: other._built[name] for name in self._builds.keys() & other._built}

    def _add(self, build: Build, *arrays: np.ndarray) -> str:
        name = hashlib.blake2b(digest_size=12)
        for array in arrays:
            name.update(f"{array.dtype}{array.shape}".encode())
            name.update(np.ascontiguousarray(array).data)
        self._builds[name.hexdigest()] = build
        return name.hexdigest()

    def _surface_name(self, surface: Surface) -> str:
        return self._add(partial(_compressed, partial(packed, surface)), *surface)

    def _mesh_names(self, model: mujoco.MjModel, mesh: int) -> list[str | None]:
        """Return the names of a mesh, and of its convex hull if it has one."""
        hull = hull_surface(model, mesh)
        own = self._surface_name(mesh_surface(model, mesh))
        return [own, self._surface_name(hull) if hull is not None else None]

    def _hfield_name(self, model: mujoco.MjModel, field: int) -> str:
        rows, columns = model.hfield_nrow[field], model.hfield_ncol[field]
        first = model.hfield_adr[field]
        heights = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
        return self._surface_name(height_field(heights, model.hfield_size[field]))

    def _skin_name(self, model: mujoco.MjModel, skin: int) -> str:
        first, count = model.skin_faceadr[skin], model.skin_facenum[skin]
        faces = model.skin_face[first : first + count].astype("<u4")
        texcoords = np.zeros((model.skin_vertnum[skin], 2), "<f4")
        if (start := model.skin_texcoordadr[skin]) >= 0:
            texcoords[:] = model.skin_texcoord[start : start + len(texcoords)]
        return self._add(partial(_compressed, partial(_skin, faces, texcoords)), faces, texcoords)

    def _texture(self, model: mujoco.MjModel, texture: int) -> dict[str, Any]:
        width, height = int(model.tex_width[texture]), int(model.tex_height[texture])
        channels, first = int(model.tex_nchannel[texture]), model.tex_adr[texture]
        pixels = model.tex_data[first : first + width * height * channels]
        pixels = pixels.reshape(height, width, channels).copy()
        return {
            "name": self._add(partial(_png, pixels), pixels),
            "is_cube": int(model.tex_type[texture]) != _TEXTURE_2D,
            "is_sky": int(model.tex_type[texture]) == _SKYBOX,
            "is_srgb": int(model.tex_colorspace[texture]) == _SRGB,
            "is_image": channels in (3, 4),
            "faces": 1 if width == height else 6,
        }


def mesh_surface(model: mujoco.MjModel, mesh: int) -> Surface:
    """Return the triangles of a mesh, smooth where MuJoCo draws it smooth."""
    faces = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    corners = model.mesh_vert[model.mesh_face[faces] + model.mesh_vertadr[mesh]]
    normals = model.mesh_normal[model.mesh_facenormal[faces] + model.mesh_normaladr[mesh]]
    if (start := model.mesh_texcoordadr[mesh]) >= 0:
        return _of_triangles(
            corners, normals, model.mesh_texcoord[model.mesh_facetexcoord[faces] + start]
        )
    flat = _face_normals(corners)[:, None]
    is_sharp = (normals * flat).sum(axis=2, keepdims=True) < _SMOOTH
    return _of_triangles(corners, np.where(is_sharp, flat, normals))


def hull_surface(model: mujoco.MjModel, mesh: int) -> Surface | None:
    """Return the triangles of the convex hull of a mesh; None without one."""
    start = model.mesh_graphadr[mesh]
    if start < 0:
        return None
    vertices, faces = model.mesh_graph[start : start + 2]
    first = start + 2 + 3 * vertices + 3 * faces
    indices = model.mesh_graph[first : first + 3 * faces].reshape(faces, 3)
    corners = model.mesh_vert[indices + model.mesh_vertadr[mesh]]
    return _of_triangles(corners, np.repeat(_face_normals(corners)[:, None], 3, axis=1))


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
    triangles = np.concatenate(quads).reshape(-1, 3, 3)
    return _of_triangles(triangles, np.repeat(_face_normals(triangles)[:, None], 3, axis=1))


def _face_normals(corners: np.ndarray) -> np.ndarray:
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.asarray(normals / np.maximum(lengths, 1e-30), np.float32)


def _of_triangles(
    corners: np.ndarray, normals: np.ndarray, texcoords: np.ndarray | None = None
) -> Surface:
    count = 3 * len(corners)
    coordinates = np.zeros((count, 2)) if texcoords is None else texcoords.reshape(count, 2)
    return Surface(corners.reshape(count, 3), normals.reshape(count, 3), coordinates)


def packed_vertices(points: np.ndarray, normals: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Return a box, and vertices with 16-bit positions in it and 8-bit normals.  # (n, 6)"""
    low, high = (getattr(points, edge)(axis=0, initial=0.0) for edge in ("min", "max"))
    extent = np.maximum(high - low, 1e-9)
    vertices = np.zeros((len(points), 6), "<u2")
    vertices[:, :3] = np.rint((points - low) / extent * 65535.0)
    vertices.view(np.int8)[:, 6:9] = np.rint(normals * 127.0)
    return np.concatenate([low, extent]).astype("<f4").tobytes(), vertices


def packed(surface: Surface) -> bytes:
    """Return vertices, each once, with their texture coordinates, and indices."""
    points, normals, texcoords = surface
    box, vertices = packed_vertices(points, normals)
    has_texture = bool(texcoords.any())
    table = np.hstack([vertices.view("<u4"), texcoords.astype("<f4").view("<u4")])
    # Vertices in the order of the triangles, which compresses better and is drawn faster.
    _, first, indices = np.unique(_hashes(table), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    kept = first[order]
    is_wide = len(kept) > 0xFFFF
    return b"".join(
        [
            struct.pack("<IIII", len(kept), len(points), has_texture, is_wide),
            box,
            vertices[kept].tobytes(),
            table[kept, 3:].tobytes() if has_texture else b"",
            rank[indices].astype("<u4" if is_wide else "<u2").tobytes(),
        ]
    )


def _hashes(table: np.ndarray) -> np.ndarray:
    """Return a hash of each row: comparing rows takes ten times as long.  # (n, k) → (n,)"""
    hashes = np.zeros(len(table), np.uint64)
    for column in table.T:
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _skin(faces: np.ndarray, texcoords: np.ndarray) -> bytes:
    """Return a mesh without vertices, which come with each frame, for `packed`'s reader."""
    head = struct.pack("<IIII", len(texcoords), faces.size, True, True)
    box, vertices = np.zeros(6, "<f4"), np.zeros((len(texcoords), 3), "<u4")
    return b"".join([head, box.tobytes(), vertices.tobytes(), texcoords.tobytes(), faces.tobytes()])


def _compressed(build: Callable[[], bytes]) -> Asset:
    return Asset(gzip.compress(build(), 6, mtime=0), "application/octet-stream", "gzip")


def _png(pixels: np.ndarray) -> Asset:
    """Return an image as PNG, without OpenCV, which takes 20 MB.  # (h, w, channels) uint8"""
    kind = _PNG_COLOURS.get(pixels.shape[2])
    if kind is None:
        pixels, kind = pixels[..., :1], _PNG_COLOURS[1]
    height, width, channels = pixels.shape
    rows = np.empty((height, 1 + width * channels), np.uint8)
    rows[:, 0] = _PNG_SUB  # each pixel as its difference from the left one
    differences = rows[:, 1:].reshape(pixels.shape)
    differences[:, 0] = pixels[:, 0]
    np.subtract(pixels[:, 1:], pixels[:, :-1], out=differences[:, 1:])
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes(), 1)),
        (b"IEND", b""),
    )
    content = [b"\x89PNG\r\n\x1a\n"]
    for name, data in chunks:
        check = zlib.crc32(name + data)
        content += struct.pack(">I", len(data)), name, data, struct.pack(">I", check)
    return Asset(b"".join(content), "image/png", None)
