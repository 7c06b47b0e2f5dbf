"""Makes the meshes of the quadruped: `python urdf_mjcf/quadruped/meshes.py`.

Every part stands in the frame of its link, in metres. Parts of the legs are made for the left side
(y outwards) and mirrored.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import trimesh

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shapes import (
    ball,
    drum,
    join,
    lathe,
    loft,
    mirror,
    place,
    prism,
    rounded_box,
    rounded_rectangle,
    superellipse,
    write,
)

HIP_X, HIP_Y, THIGH_Y, LINK = 0.2399, 0.051, 0.083, 0.25
Z_TO_Y, Z_TO_X = (-math.pi / 2.0, 0.0, 0.0), (0.0, math.pi / 2.0, 0.0)


def along_x(
    stations: Sequence[tuple[float, float, float, float]], exponent: float, count: int = 40
) -> trimesh.Trimesh:
    """Hull through stations (x, half width, bottom, top)."""
    rings = []
    for x, half_y, bottom, top in stations:
        flat = superellipse(half_y, (top - bottom) / 2.0, exponent, count)
        rings.append(
            np.column_stack([np.full(count, x), flat[:, 0], flat[:, 1] + (top + bottom) / 2.0])
        )
    return loft(rings)


def along_z(
    stations: Sequence[tuple[float, float, float, float]], exponent: float, count: int = 28
) -> trimesh.Trimesh:
    """Limb through stations (z, centre x, half length in x, half width in y)."""
    rings = []
    for z, x, half_x, half_y in stations:
        flat = superellipse(half_x, half_y, exponent, count)
        rings.append(np.column_stack([flat[:, 0] + x, flat[:, 1], np.full(count, z)]))
    return loft(rings)


def trunk() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Belly, bulkheads, canopy and head."""
    belly = along_x(
        [
            (-0.186, 0.060, -0.046, 0.040),
            (-0.180, 0.070, -0.054, 0.046),
            (-0.160, 0.077, -0.058, 0.050),
            (0.160, 0.077, -0.058, 0.050),
            (0.180, 0.070, -0.054, 0.046),
            (0.186, 0.060, -0.046, 0.040),
        ],
        7.0,
    )
    spine = along_x([(-0.30, 0.024, -0.040, 0.050), (0.30, 0.024, -0.040, 0.050)], 8.0)
    bulkheads = [
        along_x(
            [
                (sign * 0.290, 0.064, -0.044, 0.046),
                (sign * 0.294, 0.070, -0.050, 0.050),
                (sign * 0.312, 0.070, -0.050, 0.050),
                (sign * 0.320, 0.060, -0.042, 0.044),
            ],
            5.0,
        )
        for sign in (-1.0, 1.0)
    ]
    yield "trunk", join(belly, spine, *bulkheads)

    yield (
        "canopy",
        along_x(
            [
                (-0.334, 0.034, 0.030, 0.050),
                (-0.326, 0.050, 0.026, 0.060),
                (-0.300, 0.060, 0.030, 0.067),
                (-0.225, 0.060, 0.042, 0.072),
                (-0.190, 0.066, 0.036, 0.074),
                (-0.165, 0.082, 0.014, 0.076),
                (-0.100, 0.085, 0.006, 0.078),
                (0.100, 0.085, 0.006, 0.078),
                (0.165, 0.082, 0.014, 0.077),
                (0.190, 0.066, 0.036, 0.076),
                (0.225, 0.060, 0.042, 0.075),
                (0.300, 0.062, 0.034, 0.073),
                (0.318, 0.062, 0.026, 0.071),
            ],
            4.5,
        ),
    )
    head = along_x(
        [
            (0.308, 0.062, -0.044, 0.070),
            (0.322, 0.067, -0.050, 0.073),
            (0.345, 0.067, -0.050, 0.069),
            (0.365, 0.063, -0.045, 0.058),
            (0.376, 0.056, -0.038, 0.046),
        ],
        4.5,
    )
    yield "head", head
    # Outline in (y, z), extruded towards +x.
    visor = place(
        prism(rounded_rectangle(0.094, 0.058, 0.020, 6), 0.0, 0.009, 0.003),
        (0.3725, 0.0, 0.004),
        (math.pi / 2.0, 0.0, math.pi / 2.0),
    )
    deck = place(rounded_box((0.300, 0.104, 0.010), 0.020, 0.002), (0.0, 0.0, 0.0755))
    vents = [
        place(rounded_box((0.150, 0.004, 0.022), 0.0015, 0.0015), (0.0, sign * 0.0775, -0.024))
        for sign in (-1.0, 1.0)
    ]
    yield "visor", join(visor, deck, *vents)

    rails = [
        place(rounded_box((0.260, 0.014, 0.012), 0.005, 0.0025), (0.0, sign * 0.036, 0.0835))
        for sign in (-1.0, 1.0)
    ]
    lenses = [
        place(drum(radius, 0.0, 0.0025, fillet=0.001, steps=1, count=24), (0.381, y, 0.010), Z_TO_X)
        for radius, y in ((0.0095, -0.026), (0.0095, 0.026), (0.006, 0.0))
    ]
    yield "trunk_metal", join(*rails, *lenses)

    stripes = [
        place(rounded_box((0.170, 0.0035, 0.006), 0.0015, 0.001), (0.0, sign * 0.0846, 0.034))
        for sign in (-1.0, 1.0)
    ]
    lamp = place(rounded_box((0.004, 0.052, 0.004), 0.0015, 0.001), (0.3812, 0.0, -0.013))
    tail = place(rounded_box((0.004, 0.056, 0.006), 0.0015, 0.001), (-0.3335, 0.0, 0.040))
    yield "trunk_accent", join(*stripes, lamp, tail)


def hip() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Housing of the two hip motors: rolling about x, and carrying the thigh at y."""
    roll = place(drum(0.0400, -0.046, 0.046, fillet=0.006), rpy=Z_TO_X)
    arm = along_x(
        [
            (-0.036, 0.022, -0.030, 0.030),
            (-0.030, 0.026, -0.036, 0.036),
            (0.030, 0.026, -0.036, 0.036),
            (0.036, 0.022, -0.030, 0.030),
        ],
        4.0,
        28,
    )
    pitch = place(drum(0.0465, 0.024, 0.058, fillet=0.004), rpy=Z_TO_Y)
    left = join(roll, place(arm, (0.0, 0.022, 0.0)), pitch)
    yield "hip_left", left
    yield "hip_right", mirror(left)
    ring = place(drum(0.0440, 0.056, 0.0640, fillet=0.001, steps=1), rpy=Z_TO_Y)
    ends = [
        place(
            drum(0.0290, 0.0, 0.0475, fillet=0.002, steps=1, count=28),
            rpy=(0.0, sign * math.pi / 2.0, 0.0),
        )
        for sign in (-1.0, 1.0)
    ]
    metal = join(ring, *ends)
    yield "hip_metal_left", metal
    yield "hip_metal_right", mirror(metal)


def thigh() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Limb with the drums of hip and knee."""
    blade = along_z(
        [
            (0.036, 0.000, 0.014, 0.010),
            (0.032, 0.000, 0.024, 0.015),
            (0.020, 0.000, 0.036, 0.018),
            (0.000, 0.000, 0.043, 0.0195),
            (-0.035, -0.002, 0.044, 0.020),
            (-0.080, -0.005, 0.036, 0.0195),
            (-0.130, -0.005, 0.029, 0.0185),
            (-0.180, -0.003, 0.0245, 0.0175),
            (-0.225, 0.000, 0.0235, 0.0165),
            (-0.262, 0.000, 0.0225, 0.0155),
            (-0.272, 0.000, 0.0160, 0.0110),
        ],
        3.2,
    )
    left = place(blade, (0.0, 0.004, 0.0))
    yield "thigh_left", left
    yield "thigh_right", mirror(left)
    motor = place(drum(0.0455, -0.0185, 0.0270, fillet=0.004), rpy=Z_TO_Y)
    knee = place(drum(0.0270, -0.0180, 0.0250, fillet=0.003, count=28), (0.0, 0.0, -LINK), Z_TO_Y)
    dark = join(motor, knee)
    yield "thigh_dark_left", dark
    yield "thigh_dark_right", mirror(dark)
    disc = place(drum(0.0330, 0.0250, 0.0300, fillet=0.002, steps=2), rpy=Z_TO_Y)
    pin = place(
        drum(0.0160, 0.0240, 0.0275, fillet=0.001, steps=1, count=24), (0.0, 0.0, -LINK), Z_TO_Y
    )
    metal = join(disc, pin)
    yield "thigh_metal_left", metal
    yield "thigh_metal_right", mirror(metal)
    badge = place(drum(0.0110, 0.0290, 0.0312, fillet=0.0008, steps=1, count=24), rpy=Z_TO_Y)
    yield "thigh_accent_left", badge
    yield "thigh_accent_right", mirror(badge)


def calf() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Shin, from inside the knee drum to the ankle ring."""
    yield (
        "calf",
        along_z(
            [
                (0.020, 0.000, 0.010, 0.007),
                (0.012, 0.000, 0.019, 0.012),
                (-0.010, 0.001, 0.0225, 0.0135),
                (-0.040, 0.004, 0.0200, 0.0130),
                (-0.090, 0.006, 0.0160, 0.0115),
                (-0.150, 0.005, 0.0130, 0.0105),
                (-0.200, 0.002, 0.0120, 0.0100),
                (-0.236, 0.000, 0.0120, 0.0105),
            ],
            2.6,
        ),
    )
    yield (
        "calf_metal",
        lathe([(0.0125, -0.226), (0.0145, -0.2245), (0.0145, -0.2180), (0.0125, -0.2165)], 24),
    )


def foot() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Rubber ball with its sleeve."""
    sleeve = lathe([(0.020, 0.008), (0.0185, 0.016), (0.0150, 0.023), (0.0140, 0.0265)], 24)
    yield "foot", join(ball(0.0265, 28, 12), sleeve)


def parts() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Every mesh of the quadruped with its file's name."""
    for make in (trunk, hip, thigh, calf, foot):
        yield from make()


if __name__ == "__main__":
    size = write(Path(__file__).parent / "meshes", parts())
    print(f"{size / 1000.0:.0f} kB")
