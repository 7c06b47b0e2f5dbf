"""Makes the meshes of the objects: `python urdf_mjcf/objects/meshes.py`.

Every part stands in the frame of its object, in metres.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import trimesh

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shapes import (
    drum,
    join,
    loft,
    place,
    rounded_box,
    rounded_rectangle,
    write,
)


def box() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Cube of 40 mm with chamfered edges; the mouths of its bore."""
    yield "box", rounded_box((0.040, 0.040, 0.040), 0.0015, 0.0012)
    mouth = drum(0.0085, -0.02005, 0.02005, fillet=0.0001, steps=1)
    yield "box_bore", join(mouth, place(mouth, rpy=(math.pi / 2.0, 0.0, 0.0)))


def table(
    name: str, length: float, width: float, height: float, board: float, leg: float
) -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Board on a frame of four tapered legs and rails; sizes as in the collision geoms."""
    slab = rounded_box((length, width, board), 0.025, 0.004)
    yield f"{name}_top", place(slab, (0.0, 0.0, height - board / 2.0))
    under = height - board
    inset = 0.05 + leg / 2.0
    x, y = length / 2.0 - inset, width / 2.0 - inset
    shells = []
    for sx in (-1.0, 1.0):
        for sy in (-1.0, 1.0):
            foot = rounded_rectangle(0.62 * leg, 0.62 * leg, 0.010)
            top = rounded_rectangle(leg, leg, 0.012)
            post = loft(
                [
                    [(*p, z) for p in ring]
                    for ring, z in ((foot, 0.012), (top, under - 0.06), (top, under))
                ]
            )
            shells.append(place(post, (sx * x, sy * y, 0.0)))
            shells.append(place(drum(0.30 * leg, 0.0, 0.014, fillet=0.002), (sx * x, sy * y, 0.0)))
    for sy in (-1.0, 1.0):
        rail = rounded_box((2.0 * x, 0.4 * leg, 0.055), 0.004)
        shells.append(place(rail, (0.0, sy * y, under - 0.028)))
    for sx in (-1.0, 1.0):
        rail = rounded_box((0.4 * leg, 2.0 * y, 0.055), 0.004)
        shells.append(place(rail, (sx * x, 0.0, under - 0.028)))
    yield f"{name}_frame", join(*shells)


def parts() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Every mesh of the objects with its file's name."""
    yield from box()
    yield from table("table", 0.8, 0.8, 0.315, 0.030, 0.060)
    yield from table("long_table", 2.0, 0.8, 0.750, 0.036, 0.070)


if __name__ == "__main__":
    size = write(Path(__file__).parent / "meshes", parts())
    print(f"{size / 1000.0:.0f} kB")
