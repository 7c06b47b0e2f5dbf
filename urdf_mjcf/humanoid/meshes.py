"""Generate the visual meshes of the humanoid: python urdf_mjcf/humanoid/meshes.py

Parts are in metres in the frame of their body. One STL holds what one body shows in one material,
as <body>_<material>.stl; left parts are mirrored to the right.
"""

from pathlib import Path

import numpy as np

from lofting import (
    Part,
    Station,
    arm_plate,
    block,
    bolts,
    cover,
    covers,
    disc,
    drum,
    fork,
    panel,
    rod,
    shell,
    write_stl,
)


def leg() -> dict[str, list[Part]]:
    """The left leg, from the rotor of the hip yaw motor to the sole."""
    thigh: list[Station] = [
        (-0.330, 0.006, 0.046, 0.046, 0.046, 2.4),
        (-0.270, 0.008, 0.056, 0.054, 0.053, 2.5),
        (-0.180, 0.010, 0.068, 0.064, 0.062, 2.6),
        (-0.100, 0.008, 0.070, 0.066, 0.066, 2.7),
        (-0.050, 0.004, 0.062, 0.060, 0.060, 2.7),
        (-0.028, 0.002, 0.048, 0.046, 0.046, 2.6),
    ]
    shin: list[Station] = [
        (-0.305, -0.004, 0.036, 0.036, 0.036, 2.4),
        (-0.230, -0.004, 0.043, 0.046, 0.042, 2.4),
        (-0.140, -0.002, 0.050, 0.061, 0.051, 2.5),
        (-0.075, 0.004, 0.052, 0.056, 0.051, 2.6),
        (-0.042, 0.012, 0.045, 0.036, 0.045, 2.7),
    ]
    knee: list[Station] = [
        (-0.054, 0.034, 0.020, 0.02, 0.028, 2.4),
        (-0.015, 0.040, 0.020, 0.02, 0.034, 2.5),
        (0.022, 0.032, 0.016, 0.02, 0.028, 2.4),
        (0.038, 0.024, 0.004, 0.006, 0.006, 2.2),
    ]
    foot: list[Station] = [
        (-0.086, 0.030, 0.112, 0.112, 0.057, 4.0),
        (-0.072, 0.024, 0.108, 0.100, 0.055, 3.6),
        (-0.058, 0.008, 0.094, 0.076, 0.049, 3.0),
        (-0.046, -0.004, 0.062, 0.052, 0.042, 2.6),
    ]
    sole: list[Station] = [
        (-0.098, 0.030, 0.113, 0.113, 0.058, 5.0),
        (-0.086, 0.030, 0.115, 0.115, 0.060, 5.0),
    ]
    out = np.array([0, 0.008, 0])  # the thigh bulges to the outside of the hip joint
    return {
        "hip_yaw_link_frame": [
            disc("z", (0, 0, 0), 0.050, 0.046, 0.066),
            arm_plate("x", -0.092, -0.070, (0, 0, 0.050), (0, 0.045, 0.042)),
            block((-0.055, 0, 0.052), (0.09, 0.07, 0.018)),
            drum("x", (0, 0, 0), 0.047, -0.116, -0.088),
        ],
        "hip_yaw_link_metal": [cover("x", (0, 0, 0), 0.040, -0.112, -0.121)],
        "hip_roll_link_frame": [
            disc("x", (0, 0, 0), 0.040, -0.070, 0.030),
            drum("y", (0, 0, 0), 0.043, -0.046, 0.050),
        ],
        "hip_roll_link_metal": [cover("x", (0, 0, 0), 0.031, 0.024, 0.049)],
        "thigh_shell": [shell(*thigh, caps=(0.012, 0.012), segments=20) + out],
        "thigh_frame": [
            arm_plate("y", 0.046, 0.064, (0, 0, 0.054), (-0.13, 0.006, 0.040)),
            arm_plate("y", -0.058, -0.046, (0, 0, 0.040), (-0.11, 0.006, 0.034)),
            drum("y", (0, 0, 0), 0.054, 0.050, 0.084),
            panel(thigh, (0.75, 3.2), (142, 218), 0.003) + out,
            *fork("y", 0.052, 0.014, (-0.38, 0, 0.042), (-0.30, 0.006, 0.040)),
        ],
        "thigh_metal": [
            cover("y", (0, 0, 0), 0.043, 0.080, 0.091),
            bolts("y", (0, 0, 0), 0.048, 0.080, 0.087),
            *covers("y", (0, 0, -0.38), 0.033, 0.056, 0.066),
        ],
        "thigh_accent": [panel(thigh, (1.25, 2.75), (66, 86), 0.0025, size=(7, 5)) + out],
        "shin_frame": [
            drum("y", (0, 0, 0), 0.041, -0.046, 0.046),
            block((0, 0, -0.045), (0.06, 0.07, 0.07)),
            panel(shin, (0.9, 3.0), (142, 218), 0.003),
            *fork("y", 0.036, 0.012, (-0.37, 0, 0.026), (-0.29, -0.004, 0.031)),
        ],
        "shin_shell": [
            shell(*shin, caps=(0.01, 0.012)),
            shell(*knee, caps=(0.008, 0.002), segments=14),
        ],
        "shin_metal": covers("y", (0, 0, -0.37), 0.019, 0.038, 0.046),
        "shin_accent": [panel(shin, (1.0, 2.7), (-9, 9), 0.0025, size=(7, 5))],
        "ankle_link_metal": [
            drum("y", (0, 0, 0), 0.019, -0.032, 0.032, 12),
            drum("x", (0, 0, 0), 0.019, -0.036, 0.036, 12),
        ],
        "foot_frame": [
            *fork("x", 0.042, 0.014, (0, 0, 0.026), (0, -0.045, 0.034)),
            block((0, 0, -0.046), (0.09, 0.072, 0.014)),
        ],
        "foot_metal": [
            disc("z", (0, 0, 0), 0.040, -0.058, -0.050),
            *covers("x", (0, 0, 0), 0.018, 0.046, 0.053),
        ],
        "foot_shell": [shell(*foot, caps=(0.002, 0.006), segments=24)],
        "foot_accent": [panel(foot, (0.4, 1.15), (-24, 24), 0.002, size=(7, 7))],
        "foot_rubber": [shell(*sole, caps=(0.002, 0.002), steps=1, segments=24)],
    }


def arm() -> dict[str, list[Part]]:
    """The left arm, from the rotor of the shoulder pitch motor to the finger tips."""
    deltoid: list[Station] = [
        (-0.052, 0.0, 0.046, 0.046, 0.045, 2.3),
        (-0.020, 0.0, 0.056, 0.056, 0.050, 2.5),
        (0.015, 0.0, 0.057, 0.057, 0.051, 2.5),
        (0.046, 0.0, 0.046, 0.046, 0.041, 2.4),
        (0.063, 0.0, 0.026, 0.026, 0.023, 2.2),
        (0.069, 0.0, 0.005, 0.005, 0.005, 2.0),
    ]
    upper: list[Station] = [
        (-0.130, 0.0, 0.037, 0.037, 0.037, 2.4),
        (-0.070, 0.0, 0.044, 0.044, 0.043, 2.4),
        (-0.012, 0.0, 0.047, 0.047, 0.046, 2.3),
    ]
    fore: list[Station] = [
        (-0.112, 0.0, 0.040, 0.040, 0.039, 2.3),
        (-0.070, 0.0, 0.043, 0.045, 0.042, 2.4),
        (-0.028, 0.003, 0.038, 0.036, 0.038, 2.5),
    ]
    lower: list[Station] = [
        (-0.090, 0.0, 0.028, 0.028, 0.028, 2.3),
        (-0.045, 0.0, 0.034, 0.034, 0.033, 2.3),
        (-0.010, 0.0, 0.039, 0.039, 0.038, 2.3),
    ]
    palm: list[Station] = [
        (-0.096, 0.006, 0.016, 0.017, 0.041, 4.0),
        (-0.066, 0.004, 0.021, 0.021, 0.043, 3.5),
        (-0.042, 0.002, 0.021, 0.021, 0.036, 3.0),
    ]
    fingers, tips = [], []
    for y, short in ((-0.027, 0.006), (0.0, 0.0), (0.027, 0.008)):
        knuckle = (-0.002, y, -0.038 + short / 2)
        fingers.append(rod((0, y, -0.006), knuckle, 0.0105, 0.0095))
        tips.append(rod(knuckle, (-0.010, y, -0.072 + short), 0.0095, 0.0075))
    return {
        "shoulder_pitch_link_frame": [
            disc("y", (0, 0, 0), 0.050, -0.012, 0.008),
            block((0, 0.02, 0), (0.075, 0.05, 0.07)),
            drum("x", (0, 0.05, 0), 0.042, -0.046, 0.046),
        ],
        "shoulder_roll_link_shell": [shell(*deltoid, caps=(0.012, 0.001), segments=16, y=0.012)],
        "shoulder_roll_link_frame": [
            *(drum("x", (0, 0, 0), 0.036, *ends) for ends in ((0.040, 0.064), (-0.064, -0.040))),
            disc("z", (0, 0, 0), 0.042, -0.100, -0.04),
        ],
        "shoulder_roll_link_metal": covers("x", (0, 0, 0), 0.030, 0.058, 0.068),
        "upper_arm_accent": [disc("z", (0, 0, 0), 0.0445, -0.012, 0.0)],
        "upper_arm_shell": [shell(*upper, caps=(0.01, 0.004))],
        "upper_arm_frame": fork("y", 0.040, 0.012, (-0.18, 0, 0.034), (-0.11, 0, 0.033)),
        "upper_arm_metal": covers("y", (0, 0, -0.18), 0.026, 0.042, 0.051),
        "forearm_frame": [
            drum("y", (0, 0, 0), 0.033, -0.036, 0.036),
            block((0, 0, -0.035), (0.05, 0.056, 0.05)),
        ],
        "forearm_shell": [shell(*fore, caps=(0.004, 0.01))],
        "wrist_yaw_link_accent": [disc("z", (0, 0, 0), 0.0385, -0.010, 0.0)],
        "wrist_yaw_link_shell": [shell(*lower, caps=(0.008, 0.003))],
        "wrist_yaw_link_frame": fork("x", 0.026, 0.010, (0, -0.125, 0.019), (0, -0.085, 0.024)),
        "wrist_roll_link_metal": [
            drum("x", (0, 0, 0), 0.015, -0.033, 0.033, 12),
            drum("y", (0, 0, 0), 0.015, -0.033, 0.033, 12),
        ],
        "hand_frame": [
            *fork("y", 0.026, 0.008, (0, 0, 0.018), (-0.030, 0, 0.020)),
            drum("y", (0.012, 0, -0.098), 0.011, -0.041, 0.041, 12),
            rod((-0.010, -0.010, -0.056), (-0.044, -0.010, -0.094), 0.014, 0.011),
        ],
        "hand_metal": [disc("z", (0, 0, 0), 0.031, -0.042, -0.032)],
        "hand_shell": [shell(*palm, caps=(0.006, 0.008))],
        "hand_rubber": [rod((-0.044, -0.010, -0.094), (-0.047, 0.0, -0.145), 0.011, 0.0085)],
        "finger_frame": fingers,
        "finger_rubber": tips,
    }


def trunk() -> dict[str, list[Part]]:
    """Pelvis, waist, torso, neck and head."""
    hips: list[Station] = [
        (0.066, -0.008, 0.076, 0.080, 0.124, 3.2),
        (0.086, -0.008, 0.090, 0.092, 0.144, 3.0),
        (0.112, -0.008, 0.092, 0.094, 0.140, 2.8),
        (0.132, -0.008, 0.080, 0.082, 0.112, 2.6),
    ]
    crotch: list[Station] = [
        (-0.030, 0.0, 0.030, 0.040, 0.020, 2.6),
        (0.020, -0.004, 0.056, 0.060, 0.027, 2.8),
        (0.075, -0.008, 0.078, 0.078, 0.046, 3.0),
    ]
    chest: list[Station] = [
        (0.105, 0.000, 0.078, 0.072, 0.100, 2.8),
        (0.160, 0.002, 0.098, 0.086, 0.122, 2.8),
        (0.235, 0.006, 0.116, 0.096, 0.142, 2.8),
        (0.310, 0.004, 0.112, 0.096, 0.140, 2.8),
        (0.365, -0.002, 0.090, 0.086, 0.116, 2.6),
        (0.398, -0.005, 0.066, 0.068, 0.080, 2.3),
        (0.415, -0.004, 0.050, 0.052, 0.056, 2.2),
    ]
    pack: list[Station] = [
        (0.150, -0.100, 0.03, 0.034, 0.082, 4.0),
        (0.250, -0.104, 0.03, 0.046, 0.094, 4.0),
        (0.345, -0.098, 0.03, 0.036, 0.086, 4.0),
    ]
    skull: list[Station] = [
        (0.016, 0.012, 0.050, 0.050, 0.044, 2.3),
        (0.055, 0.010, 0.080, 0.074, 0.066, 2.3),
        (0.100, 0.006, 0.091, 0.090, 0.075, 2.3),
        (0.140, 0.000, 0.082, 0.086, 0.070, 2.3),
        (0.170, -0.005, 0.056, 0.062, 0.050, 2.2),
        (0.185, -0.008, 0.028, 0.034, 0.026, 2.1),
        (0.190, -0.010, 0.005, 0.006, 0.005, 2.0),
    ]
    jaw: list[Station] = [
        (-0.010, 0.000, 0.036, 0.036, 0.044, 2.3),
        (0.030, 0.008, 0.052, 0.056, 0.052, 2.3),
    ]
    bellows: list[Station] = [
        (0.030 + 0.016 * i, 0.0, 0.064 + w, 0.064 + w, 0.084 + w, 2.4)
        for i, w in enumerate((0.0, 0.007, 0.001, 0.008, 0.002, 0.009))
    ]
    throat: list[Station] = [
        (0.004 + 0.008 * i, 0.0, 0.036 + w, 0.036 + w, 0.036 + w, 2.0)
        for i, w in enumerate((0.003, 0.0, 0.003, 0.0, 0.003, 0.0))
    ]
    shoulder = (0.0, 0.0, 0.33)
    ear = (0.0, 0.0, 0.085)
    return {
        "pelvis_shell": [
            shell(*hips, caps=(0.014, 0.010), segments=28),
            shell(*crotch, caps=(0.014, 0.002), segments=16),
        ],
        "pelvis_frame": [
            *(disc("z", (0, y, 0), 0.055, 0.064, 0.082) for y in (-0.095, 0.095)),
            drum("z", (0, 0, 0), 0.066, 0.120, 0.146),
            panel(hips, (0.35, 2.0), (-26, 26), 0.003),
            panel(hips, (0.35, 2.0), (150, 210), 0.003),
        ],
        "pelvis_accent": [panel(hips, (0.95, 1.35), (-13, 13), 0.005)],
        "waist_yaw_link_metal": [disc("z", (0, 0, 0), 0.060, 0.014, 0.024)],
        "waist_yaw_link_frame": fork("y", 0.060, 0.016, (0.05, 0, 0.030), (0.024, 0, 0.040)),
        "waist_pitch_link_metal": [
            drum("y", (0, 0, 0), 0.024, -0.073, 0.073, 12),
            drum("x", (0, 0, 0), 0.024, -0.061, 0.061, 12),
        ],
        "torso_frame": [
            shell(*bellows, caps=(0.006, 0.006), steps=1, segments=24),
            *fork("x", 0.050, 0.014, (0, 0, 0.028), (0, 0.045, 0.05)),
            *(disc("y", shoulder, 0.056, *ends) for ends in ((0.105, 0.162), (-0.162, -0.105))),
            drum("z", (0, 0, 0), 0.046, 0.400, 0.430),
            panel(chest, (1.7, 3.9), (-34, 34), 0.003, size=(11, 11)),
            panel(pack, (0.25, 1.75), (140, 220), 0.003),
        ],
        "torso_shell": [
            shell(*chest, caps=(0.012, 0.004), segments=32),
            shell(*pack, caps=(0.012, 0.012), segments=24),
        ],
        "torso_accent": [
            cover("x", (0, 0, 0.27), 0.024, 0.114, 0.130),
            *(disc("y", shoulder, 0.059, *ends) for ends in ((0.146, 0.154), (-0.154, -0.146))),
        ],
        "neck_link_frame": [shell(*throat, caps=(0.002, 0.006), steps=1, segments=16)],
        "neck_link_metal": [drum("y", (0, 0, 0.05), 0.020, -0.052, 0.052, 16)],
        "head_shell": [shell(*skull, caps=(0.012, 0.001), segments=28)],
        "head_frame": [
            shell(*jaw, caps=(0.006, 0.006), steps=1),
            *(drum("y", ear, 0.034, *ends) for ends in ((0.060, 0.080), (-0.080, -0.060))),
        ],
        "head_visor": [panel(skull, (0.95, 3.05), (-72, 72), 0.003, 0.008, 4.0, (11, 17))],
        "head_accent": covers("y", ear, 0.027, 0.074, 0.084),
        "head_metal": [cover("x", (0, y, 0.09), 0.010, 0.088, 0.1005, 12) for y in (-0.026, 0.026)],
    }


def main() -> None:
    """Write every mesh beside this file."""
    folder = Path(__file__).parent / "meshes"
    folder.mkdir(exist_ok=True)
    for name, parts in trunk().items():
        write_stl(folder / f"{name}.stl", parts)
    for name, parts in (leg() | arm()).items():
        write_stl(folder / f"left_{name}.stl", parts)
        mirrored = [part[:, ::-1] * np.array([1, -1, 1]) for part in parts]
        write_stl(folder / f"right_{name}.stl", mirrored)


if __name__ == "__main__":
    main()
