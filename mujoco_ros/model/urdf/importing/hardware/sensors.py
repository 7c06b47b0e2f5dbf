"""Sensors at a link or joint of a URDF that become sites with MuJoCo sensors."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mujoco_ros.model.pose import Pose


class SensorType(StrEnum):
    """Type of a sensor, as in Gazebo."""

    IMU = "imu"
    FORCE_TORQUE = "force_torque"
    CONTACT = "contact"


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorRequest:
    """A sensor that a URDF declares.

    Attributes:
        element: Its element.
        name: Its name, which may be taken or invalid.
        type: Its type.
        link: The link that it is on; empty if the element names none.
        joint: The joint whose load a force-torque sensor measures; empty for that of the link.
        pose: Pose in the frame of the link.
        in_parent_frame: Whether the axes are those of the joint's parent link.
        collisions: Names of the collision elements of a contact sensor; all without any.
        noise: Standard deviation by MuJoCo sensor: ``gyro``, ``force``, …
        has_orientation: Whether an IMU measures its orientation.
        used: Elements that are used if the sensor is added.
    """

    element: ET.Element
    name: str
    type: SensorType
    link: str = ""
    joint: str = ""
    pose: Pose = field(default_factory=Pose)
    in_parent_frame: bool = False
    collisions: tuple[str, ...] = ()
    noise: Mapping[str, float] = field(default_factory=dict)
    has_orientation: bool = True
    used: tuple[ET.Element, ...] = ()
