"""Forward kinematics of a URDF text by the definition of the format."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Position = float | Matrix  # of a floating joint its 4x4 transform
LinkTransforms = Callable[[str, Mapping[str, Position]], dict[str, Matrix]]


@pytest.fixture(scope="session")
def link_transforms() -> LinkTransforms:
    """Each link's 4x4 transform in the root link's frame, from a URDF's text and positions."""
    return _link_transforms


def _turn(axis: NDArray[np.float64], angle: float) -> Matrix:
    """Return the 3x3 rotation about a unit axis (Rodrigues' formula)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def _origin(element: ET.Element) -> Matrix:
    """Return the 4x4 transform of an element's <origin>."""
    found = element.find("origin")
    transform = np.eye(4)
    if found is not None:
        roll, pitch, yaw = map(float, found.get("rpy", "0 0 0").split())
        x, y, z = np.eye(3)
        transform[:3, :3] = _turn(z, yaw) @ _turn(y, pitch) @ _turn(x, roll)
        transform[:3, 3] = [float(word) for word in found.get("xyz", "0 0 0").split()]
    return transform


def _link_transforms(urdf: str, positions: Mapping[str, Position]) -> dict[str, Matrix]:
    robot = ET.fromstring(urdf)
    joints = robot.findall("joint")
    children = {joint.find("child").get("link") for joint in joints}
    links = [link.get("name") for link in robot.findall("link")]
    (root,) = [name for name in links if name not in children]
    transforms = {root: np.eye(4)}
    while len(transforms) < len(links):
        for joint in joints:
            parent = joint.find("parent").get("link")
            if parent in transforms:
                child = joint.find("child").get("link")
                motion = _motion(joint, positions.get(joint.get("name"), 0.0))
                transforms[child] = transforms[parent] @ _origin(joint) @ motion
    return transforms


def _motion(joint: ET.Element, position: Position) -> Matrix:
    if joint.get("type") == "floating" and isinstance(position, np.ndarray):
        return position
    motion = np.eye(4)
    found = joint.find("axis")
    words = "1 0 0" if found is None else found.get("xyz")
    axis = np.array([float(word) for word in words.split()])
    if joint.get("type") == "prismatic":
        motion[:3, 3] = position * axis / np.linalg.norm(axis)
    elif joint.get("type") in ("revolute", "continuous"):
        motion[:3, :3] = _turn(axis / np.linalg.norm(axis), position)
    return motion
