"""Closed shells for robot meshes: lofts, lathes and bevelled prisms, from numpy alone.

Lengths are metres and angles radians. Every shape is a closed surface whose normals point outwards;
a part is several such shells joined, which may overlap. Same arguments, same bytes.
"""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import trimesh
from numpy.typing import ArrayLike, NDArray
from trimesh.exchange.stl import export_stl

Ring = NDArray[np.float64]


def circle(radius: float, count: int = 32) -> Ring:
    """Outline of a circle.  # (count, 2)"""
    return superellipse(radius, radius, 2.0, count)


def superellipse(half_x: float, half_y: float, exponent: float = 4.0, count: int = 32) -> Ring:
    """Outline |x/a|^n + |y/b|^n = 1: an ellipse at n = 2, nearly a rectangle at 8.  # (count, 2)"""
    angle = (np.arange(count) + 0.5) * 2.0 * math.pi / count
    cosine, sine = np.cos(angle), np.sin(angle)
    power = 2.0 / exponent
    x = half_x * np.sign(cosine) * np.abs(cosine) ** power
    y = half_y * np.sign(sine) * np.abs(sine) ** power
    return np.column_stack([x, y])


def rounded_rectangle(size_x: float, size_y: float, radius: float, per_corner: int = 5) -> Ring:
    """Outline of a rectangle with round corners.  # (4 per_corner, 2)"""
    arc = np.linspace(0.0, math.pi / 2.0, per_corner)
    centre = np.array([size_x / 2.0 - radius, size_y / 2.0 - radius])
    corners = []
    for quarter, sign in enumerate([(1, 1), (-1, 1), (-1, -1), (1, -1)]):
        angle = arc + quarter * math.pi / 2.0
        corners.append(centre * sign + radius * np.column_stack([np.cos(angle), np.sin(angle)]))
    return np.vstack(corners)


def stadium(
    start: ArrayLike, end: ArrayLike, r_start: float, r_end: float, count: int = 16
) -> Ring:
    """Outline of two circles in the plane and the tangents that join them.  # (2 count, 2)"""
    a, b = np.asarray(start, float), np.asarray(end, float)
    heading = math.atan2(b[1] - a[1], b[0] - a[0])
    lean = math.asin((r_start - r_end) / float(np.linalg.norm(b - a)))
    half = math.pi / 2.0
    near = heading + np.linspace(half - lean, 3.0 * half + lean, count)
    far = heading + np.linspace(-half + lean, half - lean, count)
    return np.vstack(
        [
            a + r_start * np.column_stack([np.cos(near), np.sin(near)]),
            b + r_end * np.column_stack([np.cos(far), np.sin(far)]),
        ]
    )


def loft(rings: Sequence[ArrayLike]) -> trimesh.Trimesh:
    """Skin over closed rings of equal length, each (n, 3), with flat ends.

    The ends must be star-shaped seen from their centres.
    """
    stack = np.array([np.asarray(ring, float) for ring in rings])  # (m, n, 3)
    levels, count = stack.shape[:2]
    here = np.arange(count)
    there = (here + 1) % count
    faces = []
    for level in range(levels - 1):
        low, high = level * count, (level + 1) * count
        faces.append(np.column_stack([low + here, low + there, high + there]))
        faces.append(np.column_stack([low + here, high + there, high + here]))
    bottom, top = levels * count, levels * count + 1
    last = (levels - 1) * count
    faces.append(np.column_stack([np.full(count, bottom), there, here]))
    faces.append(np.column_stack([np.full(count, top), last + here, last + there]))
    vertices = np.vstack([stack.reshape(-1, 3), stack[0].mean(axis=0), stack[-1].mean(axis=0)])
    mesh = trimesh.Trimesh(vertices, np.vstack(faces), process=False)
    if mesh.volume < 0.0:
        mesh.invert()
    return mesh


def lathe(profile: Sequence[tuple[float, float]], count: int = 32) -> trimesh.Trimesh:
    """Body of revolution about z; the profile runs through (radius, z) from end to end."""
    unit = circle(1.0, count)
    return loft([np.column_stack([radius * unit, np.full(count, z)]) for radius, z in profile])


def drum(
    radius: float,
    bottom: float,
    top: float,
    *,
    fillet: float = 0.004,
    top_fillet: float | None = None,
    count: int = 32,
    steps: int = 3,
) -> trimesh.Trimesh:
    """Upright cylinder about z with rounded rims."""
    upper = fillet if top_fillet is None else top_fillet
    arc = np.linspace(0.0, math.pi / 2.0, steps + 1)
    profile = [
        (radius - fillet + fillet * math.sin(a), bottom + fillet - fillet * math.cos(a))
        for a in arc
    ]
    profile += [
        (radius - upper + upper * math.cos(a), top - upper + upper * math.sin(a)) for a in arc
    ]
    return lathe(profile, count)


def prism(outline: ArrayLike, bottom: float, top: float, bevel: float = 0.002) -> trimesh.Trimesh:
    """Upright prism over a star-shaped outline (n, 2), its rims bevelled inwards."""
    ring = np.asarray(outline, float)
    shrunk = _inset(ring, bevel)
    levels = [(shrunk, bottom), (ring, bottom + bevel), (ring, top - bevel), (shrunk, top)]
    return loft([np.column_stack([flat, np.full(len(flat), z)]) for flat, z in levels])


def rounded_box(size: ArrayLike, radius: float, bevel: float = 0.002) -> trimesh.Trimesh:
    """Box about the origin: vertical edges of the given radius, bevelled top and bottom rims."""
    x, y, z = np.asarray(size, float)
    return prism(rounded_rectangle(x, y, radius), -z / 2.0, z / 2.0, bevel)


def ball(radius: float, count: int = 24, rings: int = 10) -> trimesh.Trimesh:
    """Sphere about the origin."""
    arc = np.linspace(-math.pi / 2.0, math.pi / 2.0, rings + 1)[1:-1]
    tip = 0.02 * radius
    profile = [(radius * math.cos(a), radius * math.sin(a)) for a in arc]
    return lathe([(tip, -radius), *profile, (tip, radius)], count)


def pipe(path: ArrayLike, outlines: Sequence[Ring], side: ArrayLike) -> trimesh.Trimesh:
    """Loft of 2D outlines along a path (m, 3); their x axis stays close to the direction `side`."""
    points = np.asarray(path, float)
    tangents = np.gradient(points, axis=0)
    rings = []
    for point, tangent, outline in zip(points, tangents, outlines, strict=True):
        z = tangent / np.linalg.norm(tangent)
        x = np.asarray(side, float) - np.dot(side, z) * z
        x /= np.linalg.norm(x)
        rings.append(point + outline @ np.vstack([x, np.cross(z, x)]))
    return loft(rings)


def place(
    mesh: trimesh.Trimesh, position: ArrayLike = (0.0, 0.0, 0.0), rpy: ArrayLike = (0.0, 0.0, 0.0)
) -> trimesh.Trimesh:
    """Copy turned by roll, pitch and yaw about fixed axes, then moved."""
    roll, pitch, yaw = np.asarray(rpy, float)
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    turn = np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
    return trimesh.Trimesh(
        mesh.vertices @ turn.T + np.asarray(position, float), mesh.faces, process=False
    )


def mirror(mesh: trimesh.Trimesh, axis: int = 1) -> trimesh.Trimesh:
    """Copy reflected in the plane normal to an axis (0 x, 1 y, 2 z)."""
    sign = np.ones(3)
    sign[axis] = -1.0
    return trimesh.Trimesh(mesh.vertices * sign, mesh.faces[:, ::-1], process=False)


def join(*shells: trimesh.Trimesh) -> trimesh.Trimesh:
    """One mesh of several shells."""
    vertices, faces, offset = [], [], 0
    for shell in shells:
        vertices.append(shell.vertices)
        faces.append(shell.faces + offset)
        offset += len(shell.vertices)
    return trimesh.Trimesh(np.vstack(vertices), np.vstack(faces), process=False)


def write(folder: Path, parts: Iterable[tuple[str, trimesh.Trimesh]]) -> int:
    """Writes each part to `folder`/name.stl, binary, and returns the bytes written.

    Raises ValueError for a shell that is open or inside out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for name, mesh in parts:
        if not mesh.is_watertight or mesh.volume <= 0.0:
            raise ValueError(f"part '{name}' is not a closed outward surface")
        data = export_stl(mesh)
        (folder / f"{name}.stl").write_bytes(data)
        total += len(data)
    return total


def _inset(ring: Ring, distance: float) -> Ring:
    """The outline moved inwards by a distance, vertex by vertex."""
    ahead = np.roll(ring, -1, axis=0) - ring
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    behind = np.roll(ahead, 1, axis=0)
    tangent = ahead + behind
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    inward = np.column_stack([-tangent[:, 1], tangent[:, 0]])
    cosine = np.clip(np.einsum("ij,ij->i", tangent, ahead), 0.5, 1.0)[:, None]
    moved: Ring = ring + inward * distance / cosine
    return moved
