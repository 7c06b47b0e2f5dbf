"""Makes the meshes of the arm: `python urdf_mjcf/arm/meshes.py`.

Every part stands in the frame of its link, in metres. Where the tubes lie beside the joint axes
follows the mesh offsets that Universal Robots publishes for the UR5e: the upper arm 0.138 m and the
forearm 0.007 m along their joint axes.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import trimesh

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from shapes import (
    circle,
    drum,
    join,
    lathe,
    loft,
    mirror,
    pipe,
    place,
    prism,
    rounded_box,
    rounded_rectangle,
    stadium,
    write,
)

UPPER_ARM, FOREARM = 0.425, 0.3922
TUBE_UPPER, TUBE_FORE = 0.138, 0.007
CAMERA = (0.054, 0.0, 0.036)
ALONG_X, ALONG_Y = (0.0, math.pi / 2.0, 0.0), (-math.pi / 2.0, 0.0, 0.0)


def lid(radius: float, z: float, height: float, count: int = 32) -> trimesh.Trimesh:
    """Domed cover of a joint, rising from z; a negative height makes it hang."""
    profile = [
        (radius, z),
        (radius, z + 0.35 * height),
        (0.975 * radius, z + 0.55 * height),
        (0.90 * radius, z + 0.72 * height),
        (0.55 * radius, z + 0.92 * height),
        (0.12 * radius, z + height),
    ]
    return lathe(profile, count)


def tube(length: float, z: float, r_start: float, r_end: float) -> trimesh.Trimesh:
    """Link tube from the origin towards -x, at height z, slightly waisted."""
    steps = np.linspace(0.0, 1.0, 9)
    path = np.column_stack([-length * steps, 0.0 * steps, z + 0.0 * steps])
    waist = 1.0 - 0.07 * np.sin(math.pi * steps)
    radii = (r_start + (r_end - r_start) * steps) * waist
    return pipe(path, [circle(radius, 36) for radius in radii], (0.0, 0.0, 1.0))


def collar(x: float, z: float, radius: float, width: float) -> trimesh.Trimesh:
    """Ring round a tube that lies along x."""
    return place(
        drum(radius, -width / 2.0, width / 2.0, fillet=0.002, steps=1, count=36),
        (x, 0.0, z),
        ALONG_X,
    )


def base() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Foot with lugs, column and connector."""
    foot = drum(0.0745, 0.0, 0.014, fillet=0.003, steps=2, count=40)
    body = lathe(
        [
            (0.066, 0.012),
            (0.0645, 0.020),
            (0.062, 0.040),
            (0.061, 0.078),
            (0.059, 0.084),
            (0.050, 0.086),
        ],
        40,
    )
    lugs = [
        place(
            drum(0.012, 0.0, 0.013, fillet=0.002, steps=1, count=16),
            (0.0700 * math.cos(a), 0.0700 * math.sin(a), 0.0),
        )
        for a in (np.arange(4) + 0.5) * math.pi / 2.0
    ]
    yield "base", join(foot, body, *lugs)
    socket = place(rounded_box((0.030, 0.050, 0.034), 0.006), (-0.062, 0.0, 0.040))
    yield "base_dark", join(drum(0.0575, 0.082, 0.1005, fillet=0.001, steps=1, count=40), socket)


def shoulder() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Elbow of two crossing drums."""
    upright = drum(0.0572, -0.060, 0.0, count=40)
    across = place(
        drum(0.0575, -0.052, 0.0640, fillet=0.004, count=40), rpy=(math.pi / 2.0, 0.0, 0.0)
    )
    yield "shoulder", join(upright, across)
    yield "shoulder_cap", place(lid(0.0545, 0.050, 0.024, 40), rpy=ALONG_Y)
    yield (
        "shoulder_dark",
        place(
            drum(0.0545, 0.060, 0.0715, fillet=0.001, steps=1, count=40),
            rpy=(math.pi / 2.0, 0.0, 0.0),
        ),
    )


def upper_arm() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Tube between the shoulder and elbow drums."""
    shoulder_drum = drum(0.0585, 0.0710, 0.1940, fillet=0.005, count=40)
    elbow_drum = place(drum(0.0500, 0.0760, 0.1860, fillet=0.005, count=40), (-UPPER_ARM, 0.0, 0.0))
    yield "upper_arm", join(shoulder_drum, elbow_drum, tube(UPPER_ARM, TUBE_UPPER, 0.0490, 0.0440))
    yield (
        "upper_arm_cap",
        join(
            lid(0.0555, 0.190, 0.024, 40),
            place(lid(0.0470, 0.182, 0.022, 40), (-UPPER_ARM, 0.0, 0.0)),
        ),
    )
    yield (
        "upper_arm_dark",
        join(
            collar(-0.0660, TUBE_UPPER, 0.0500, 0.012),
            collar(-UPPER_ARM + 0.0570, TUBE_UPPER, 0.0455, 0.012),
            place(
                drum(0.0470, 0.0655, 0.0790, fillet=0.001, steps=1, count=40),
                (-UPPER_ARM, 0.0, 0.0),
            ),
        ),
    )


def forearm() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Tube between the elbow and wrist drums."""
    elbow_drum = drum(0.0500, -0.0430, 0.0650, fillet=0.005, count=40)
    wrist_drum = place(drum(0.0375, -0.0300, 0.0480, fillet=0.004), (-FOREARM, 0.0, 0.0))
    yield "forearm", join(elbow_drum, wrist_drum, tube(FOREARM, TUBE_FORE, 0.0420, 0.0340))
    yield (
        "forearm_cap",
        join(
            lid(0.0470, -0.0390, -0.022, 40),
            place(lid(0.0350, -0.0270, -0.018), (-FOREARM, 0.0, 0.0)),
        ),
    )
    yield (
        "forearm_dark",
        join(
            collar(-0.0560, TUBE_FORE, 0.0425, 0.010),
            collar(-FOREARM + 0.0430, TUBE_FORE, 0.0352, 0.010),
            place(drum(0.0350, 0.0450, 0.0560, fillet=0.001, steps=1), (-FOREARM, 0.0, 0.0)),
        ),
    )


def wrist(name: str, reach: float, length: float) -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Wrist that turns about z from -reach and carries the next joint at y = -length (wrist 1)."""
    inner = drum(0.0370, -reach, 0.0, fillet=0.003)
    outer = place(
        drum(0.0375, -0.0400, length - 0.008, fillet=0.003), rpy=(math.pi / 2.0, 0.0, 0.0)
    )
    yield name, join(inner, outer)
    yield f"{name}_cap", place(lid(0.0350, 0.0375, 0.018), rpy=ALONG_Y)
    yield (
        f"{name}_dark",
        place(
            drum(0.0350, length - 0.012, length, fillet=0.001, steps=1),
            rpy=(math.pi / 2.0, 0.0, 0.0),
        ),
    )


def wrist_3() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Stub with the tool flange."""
    yield (
        "wrist_3",
        lathe(
            [
                (0.034, -0.0476),
                (0.0375, -0.044),
                (0.0375, -0.012),
                (0.034, -0.008),
                (0.0315, -0.006),
                (0.0315, 0.0),
            ]
        ),
    )


def sensor() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Disc of the force-torque sensor with its plug."""
    yield "sensor", drum(0.0375, 0.0005, 0.0195, fillet=0.0025, steps=2)
    plug = place(rounded_box((0.016, 0.018, 0.011), 0.003), (0.0, 0.040, 0.010))
    yield "sensor_dark", join(plug, drum(0.0378, 0.0085, 0.0105, fillet=0.0005, steps=1))


def gripper() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Palm with its rail, and the camera beside it."""
    outline = rounded_rectangle(0.050, 0.136, 0.016, 6)
    waist = rounded_rectangle(0.046, 0.080, 0.020, 6)
    levels = [
        (waist * 0.95, 0.0),
        (waist, 0.002),
        (waist, 0.012),
        (outline, 0.024),
        (outline, 0.050),
    ]
    palm = loft([np.column_stack([flat, np.full(len(flat), z)]) for flat, z in levels])
    yield "gripper", palm
    face = prism(rounded_rectangle(0.050, 0.136, 0.016, 6), 0.0495, 0.0555, 0.0015)
    yield "gripper_face", face
    rail = place(rounded_box((0.012, 0.124, 0.004), 0.002, 0.001), (0.0, 0.0, 0.0565))
    bracket = place(rounded_box((0.026, 0.040, 0.008), 0.002), (0.034, 0.0, 0.028))
    look = math.atan2(0.375, 0.927)
    shell = place(
        prism(rounded_rectangle(0.023, 0.090, 0.0110, 6), -0.019, 0.004, 0.002),
        CAMERA,
        (0.0, -look, 0.0),
    )
    yield "gripper_dark", join(rail, bracket, shell)
    lenses = []
    for y, radius in ((-0.030, 0.0055), (0.0, 0.0078), (0.030, 0.0055)):
        lens = place(drum(radius, 0.0035, 0.0052, fillet=0.0005, steps=1, count=24), (0.0, y, 0.0))
        lenses.append(place(lens, CAMERA, (0.0, -look, 0.0)))
    yield "camera_glass", join(*lenses)


def finger() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Carriage, blade and pad; the pad is the 20 x 10 x 16 mm box that collides."""
    carriage = place(rounded_box((0.030, 0.034, 0.0065), 0.003, 0.0012), (0.0, 0.012, 0.0002))
    side = stadium((0.020, 0.004), (0.0165, 0.028), 0.0095, 0.0052, 8)  # y, z
    blade = place(
        prism(side - side.mean(axis=0), -0.010, 0.010, 0.0015),
        (0.0, *side.mean(axis=0)),
        (math.pi / 2.0, 0.0, math.pi / 2.0),
    )
    left = join(carriage, blade)
    ribs = [
        place(rounded_box((0.0196, 0.0094, 0.0034), 0.001, 0.0008), (0.0, 0.00905, 0.025 + z))
        for z in (-0.006, -0.002, 0.002, 0.006)
    ]
    pad = join(
        place(rounded_box((0.0196, 0.0080, 0.0156), 0.001, 0.001), (0.0, 0.0099, 0.025)), *ribs
    )
    yield "left_finger", left
    yield "left_pad", pad
    yield "right_finger", mirror(left)
    yield "right_pad", mirror(pad)


def parts() -> Iterator[tuple[str, trimesh.Trimesh]]:
    """Every mesh of the arm with its file's name."""
    yield from base()
    yield from shoulder()
    yield from upper_arm()
    yield from forearm()
    yield from wrist("wrist_1", 0.0770, 0.0535)
    for name, mesh in wrist("wrist_2", 0.0460, 0.0520):
        yield name, place(mesh, rpy=(0.0, 0.0, math.pi))
    yield from wrist_3()
    yield from sensor()
    yield from gripper()
    yield from finger()


if __name__ == "__main__":
    size = write(Path(__file__).parent / "meshes", parts())
    print(f"{size / 1000.0:.0f} kB")
