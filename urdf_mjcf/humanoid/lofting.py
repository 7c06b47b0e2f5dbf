"""Shapes that robot covers are made of, each a closed skin lofted through rings of points [m]."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Part = Array  # (n, 3, 3) triangles: corner, xyz; counter-clockwise seen from outside
Point = tuple[float, float, float]
Station = tuple[float, float, float, float, float, float]
"""A section: height, centre x, radius to the front (+x), to the back, to the side (y), exponent."""

SEGMENTS = 18
PLANE = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}  # axis -> where (u, v, height) go


def loft(rings: Array, at: Point = (0.0, 0.0, 0.0)) -> Part:
    """Closed part through rings (m, k, 3), moved to a place, both ends filled with fans."""
    after = np.roll(rings, -1, axis=1)
    a, b, c, d = rings[:-1], after[:-1], after[1:], rings[1:]
    middle = rings.mean(axis=1, keepdims=True) + 0 * rings
    faces = [
        np.stack(corners, axis=-2).reshape(-1, 3, 3)
        for corners in (
            (a, b, c),
            (a, c, d),
            (middle[0], after[0], rings[0]),
            (middle[-1], rings[-1], after[-1]),
        )
    ]
    part = np.concatenate(faces)
    normal = np.cross(part[:, 1] - part[:, 0], part[:, 2] - part[:, 0])
    part = part[np.linalg.norm(normal, axis=1) > 1e-9]
    volume = np.einsum("ij,ij->", part[:, 0], np.cross(part[:, 1], part[:, 2]))
    oriented: Part = (part if volume > 0 else part[:, ::-1]) + np.array(at)
    return oriented


def section(station: Array, angle: Array) -> Array:
    """Points (..., 3) of super-elliptic sections (..., 6) at angles from +x."""
    height, centre, front, back, side, power = np.moveaxis(station, -1, 0)
    cos, sin = np.cos(angle), np.sin(angle)
    x = np.where(cos > 0, front, back) * np.sign(cos) * np.abs(cos) ** (2 / power)
    y = side * np.sign(sin) * np.abs(sin) ** (2 / power)
    points: Array = np.stack(np.broadcast_arrays(centre + x, y, height), axis=-1)
    return points


def between(stations: Sequence[Station], at: Array) -> Array:
    """Stations at fractional indices, through the given ones by Catmull-Rom splines."""
    table: Array = np.array(stations)
    slope: Array = np.gradient(table, axis=0)
    i = np.clip(np.floor(at).astype(int), 0, len(table) - 2)
    t = (at - i)[..., None]
    spline: Array = (
        (1 + 2 * t) * (1 - t) ** 2 * table[i]
        + t * (1 - t) ** 2 * slope[i]
        + t**2 * (3 - 2 * t) * table[i + 1]
        - t**2 * (1 - t) * slope[i + 1]
    )
    return spline


def shell(
    *stations: Station,
    caps: tuple[float, float] = (0.01, 0.01),
    steps: int = 2,
    segments: int = SEGMENTS,
    y: float = 0.0,
) -> Part:
    """Smooth skin through stations of rising height, its ends rounded within the given depths."""
    rows = between(stations, np.linspace(0, len(stations) - 1, steps * (len(stations) - 1) + 1))
    ends = []
    for row, cap, sign in ((rows[0], caps[0], -1), (rows[-1], caps[1], 1)):
        round_off = np.radians([75.0, 38.0] if cap > 0.006 else [60.0])
        end = np.repeat(row[None], len(round_off), axis=0)
        end[:, 0] += sign * cap * np.sin(round_off)
        shrink = np.minimum(cap, 0.9 * row[2:5].min()) * (1 - np.cos(round_off))
        end[:, 2:5] -= shrink[:, None]
        ends.append(end)
    rows = np.concatenate([ends[0], rows, ends[1][::-1]])
    angle = np.arange(segments) * 2 * np.pi / segments
    return loft(section(rows[:, None], angle[None]), (0.0, y, 0.0))


def panel(
    stations: Sequence[Station],
    rows: tuple[float, float],
    angles: tuple[float, float],
    lift: float = 0.002,
    depth: float = 0.006,
    corner: float = 5.0,
    size: tuple[int, int] = (9, 7),
) -> Part:
    """Rounded inlay on a shell, between two fractional station indices and two angles [deg]."""
    v = np.sin(np.linspace(-1, 1, size[0])[:, None] * np.pi / 2)
    w = np.sin(np.linspace(-1, 1, size[1])[None] * np.pi / 2)
    reach = (1 - np.abs(v) ** corner) ** (1 / corner)
    at = np.mean(rows) + v * (rows[1] - rows[0]) / 2 + 0 * w
    angle = np.radians(np.mean(angles) + w * reach * (angles[1] - angles[0]) / 2)
    station = between(stations, at)
    point = section(station, angle)
    spine = np.stack([station[..., 1], 0 * at, station[..., 0]], axis=-1)
    out = (point - spine) / np.linalg.norm(point - spine, axis=-1, keepdims=True)
    edge = np.maximum(np.abs(v), np.abs(w)) == 1
    outer, inner = point + out * np.where(edge, 0.6 * lift, lift)[..., None], point - out * depth
    return loft(np.concatenate([outer, inner[:, [-1, 0]]], axis=1))


def turned(axis: str, at: Point, profile: Sequence[tuple[float, float]], segments: int) -> Part:
    """Part turned about an axis from its (radius, height) profile."""
    u, v, height = PLANE[axis]
    angle = np.arange(segments) * 2 * np.pi / segments
    ring = np.empty((len(profile), segments, 3))
    for i, (radius, level) in enumerate(profile):
        ring[i, :, u], ring[i, :, v] = radius * np.cos(angle), radius * np.sin(angle)
        ring[i, :, height] = level
    return loft(ring, at)


def drum(
    axis: str, at: Point, radius: float, lo: float, hi: float, segments: int = SEGMENTS
) -> Part:
    """Actuator housing about an axis, its edges chamfered."""
    c = 0.003
    profile = [(radius - c, lo), (radius, lo + c), (radius, hi - c), (radius - c, hi)]
    return turned(axis, at, profile, segments)


def disc(
    axis: str, at: Point, radius: float, lo: float, hi: float, segments: int = SEGMENTS
) -> Part:
    """Plain cylinder, for what shows no edge."""
    return turned(axis, at, [(radius, lo), (radius, hi)], segments)


def cover(
    axis: str, at: Point, radius: float, base: float, face: float, segments: int = 16
) -> Part:
    """Lid of an actuator, with a groove and a hub, from its hidden base to its face."""
    c = 0.003 if face > base else -0.003
    profile = [(1.0, base), (1.0, face - c), (0.92, face)]
    if radius > 0.02:
        profile += [(0.74, face), (0.68, face - c), (0.38, face - c / 2)]
    return turned(axis, at, [(f * radius, level) for f, level in profile], segments)


def bolts(axis: str, at: Point, circle: float, lo: float, hi: float, count: int = 6) -> Part:
    """A circle of screw heads about an axis."""
    u, v, _ = PLANE[axis]
    head = turned(axis, at, [(0.004, lo), (0.004, hi)], 6)
    shift = np.zeros((count, 1, 1, 3))
    angle = (np.arange(count) + 0.5) * 2 * np.pi / count
    shift[..., u] = circle * np.cos(angle)[:, None, None]
    shift[..., v] = circle * np.sin(angle)[:, None, None]
    return (head + shift).reshape(-1, 3, 3)


def arm_plate(
    axis: str, lo: float, hi: float, *ends: tuple[float, float, float], bevel: float = 0.003
) -> Part:
    """Plate across an axis, the hull of two circles (u, v, radius) in the plane of that axis."""
    (u0, v0, r0), (u1, v1, r1) = ends
    heading = np.arctan2(v1 - v0, u1 - u0)
    lean = np.arccos(np.clip((r0 - r1) / np.hypot(u1 - u0, v1 - v0), -1, 1))
    far = heading + np.linspace(-lean, lean, 7)
    near = heading + np.linspace(lean, 2 * np.pi - lean, 7)
    u, v, height = PLANE[axis]
    ring = np.empty((4, 14, 3))
    for i, (h, inset) in enumerate(((lo, bevel), (lo + bevel, 0), (hi - bevel, 0), (hi, bevel))):
        ring[i, :7, u], ring[i, 7:, u] = (
            u1 + (r1 - inset) * np.cos(far),
            u0 + (r0 - inset) * np.cos(near),
        )
        ring[i, :7, v], ring[i, 7:, v] = (
            v1 + (r1 - inset) * np.sin(far),
            v0 + (r0 - inset) * np.sin(near),
        )
        ring[i, :, height] = h
    return loft(ring)


def block(at: Point, size: Point, power: float = 7.0, edge: float = 0.005) -> Part:
    """Box of full size, rounded all over."""
    x, y, z = np.array(size) / 2
    levels = ((-z, edge), (edge - z, 0), (z - edge, 0), (z, edge))
    rows = np.array([(h, 0, x - e, x - e, y - e, power) for h, e in levels])
    angle = np.arange(16) * np.pi / 8
    return loft(section(rows[:, None], angle[None]), at)


def rod(start: Point, end: Point, r0: float, r1: float, segments: int = 8) -> Part:
    """Tapered capsule between two points."""
    a, b = np.array(start), np.array(end)
    along = (b - a) / np.linalg.norm(b - a)
    u = np.cross(along, [0.0, 1.0, 0.0] if abs(along[1]) < 0.9 else [1.0, 0.0, 0.0])
    u /= np.linalg.norm(u)
    angle = (np.arange(segments) * 2 * np.pi / segments)[:, None]
    circle = np.cos(angle) * u + np.sin(angle) * np.cross(along, u)
    tilt = np.radians([65.0, 15.0])
    ring = [a + r0 * (np.cos(t) * circle - np.sin(t) * along) for t in tilt]
    ring += [b + r1 * (np.cos(t) * circle + np.sin(t) * along) for t in tilt[::-1]]
    return loft(np.array(ring))


def covers(axis: str, at: Point, radius: float, base: float, face: float) -> list[Part]:
    """The same lid on both ends of an axle."""
    return [cover(axis, at, radius, s * base, s * face, 12) for s in (1, -1)]


def fork(axis: str, off: float, width: float, *ends: tuple[float, float, float]) -> list[Part]:
    """Two plates on either side of an axle, their middles at a distance from its centre."""
    return [arm_plate(axis, s * off - width / 2, s * off + width / 2, *ends) for s in (1, -1)]


def write_stl(path: Path, parts: Sequence[Part]) -> None:
    """Write parts as one binary STL.

    Coordinates are rounded to 10 um, so that the file does not depend on the machine.
    """
    corners = np.round(np.concatenate(parts), 5).astype("<f4")
    layout = [("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("attributes", "<u2")]
    record = np.zeros(len(corners), layout)
    record["corner"] = corners
    path.write_bytes(bytes(80) + np.uint32(len(record)).tobytes() + record.tobytes())
