"""Numbers, origins and inertials of a URDF, from a compiled model."""

import math
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from mujoco_ros.model.pose import Pose


def text(values: ArrayLike, digits: int = 12) -> str:
    """Return numbers as text with `digits` significant digits, and 0 below 1e-12.

    Rounding hides the last bits, which differ between machines.
    """
    rounded = np.round(np.atleast_1d(np.asarray(values, dtype=float)), 12) + 0.0
    return " ".join(f"{value:.{digits}g}" for value in rounded)


def add_origin(parent: ET.Element, pose: Pose) -> None:
    """Add ``<origin>`` unless the pose is the identity."""
    # Rounding removes the sign of zeros, so that a half turn is always +pi.
    mat = np.round(pose.matrix, 12) + 0.0
    level = math.hypot(mat[0, 0], mat[1, 0])
    pitch = math.atan2(-mat[2, 0], level)
    if level > 1e-8:
        roll, yaw = math.atan2(mat[2, 1], mat[2, 2]), math.atan2(mat[1, 0], mat[0, 0])
    else:
        roll, yaw = math.atan2(-mat[1, 2], mat[1, 1]), 0.0
    xyz, rpy = text(pose.position), text((roll, pitch, yaw))
    if (xyz, rpy) != ("0 0 0", "0 0 0"):
        ET.SubElement(parent, "origin", xyz=xyz, rpy=rpy)


def add_inertial(link: ET.Element, model: mujoco.MjModel, body: int) -> None:
    """Add ``<inertial>`` in the axes of the link, unless the body has no mass."""
    mass = float(model.body_mass[body])
    if mass == 0:
        return
    frame = Pose(position=model.body_ipos[body], quat_wxyz=model.body_iquat[body]).matrix
    tensor = frame @ np.diag(model.body_inertia[body]) @ frame.T
    # The last digits depend on the processor; `+ 0.0` turns -0 into 0.
    if trace := np.trace(tensor):
        tensor = np.round(tensor, 12 - math.ceil(math.log10(trace))) + 0.0
    inertial = ET.SubElement(link, "inertial")
    add_origin(inertial, Pose(position=model.body_ipos[body]))
    ET.SubElement(inertial, "mass", value=text(mass))
    entries = {
        "ixx": (0, 0),
        "ixy": (0, 1),
        "ixz": (0, 2),
        "iyy": (1, 1),
        "iyz": (1, 2),
        "izz": (2, 2),
    }
    ET.SubElement(
        inertial, "inertia", {key: f"{tensor[index]:.12g}" for key, index in entries.items()}
    )
