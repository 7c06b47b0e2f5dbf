"""``<gazebo>`` elements: friction of links, sensors, and the plugins that add sensors or mimics."""

import xml.etree.ElementTree as ET
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import to_name, unique_name
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.sensors.cameras import CameraConfig
from mujoco_ros.model.sensors.lidars import LidarConfig
from mujoco_ros.model.urdf.importing.hardware.gazebo_sensors import (
    CAMERAS,
    LIDARS,
    cameras_of,
    lidar_of,
    site_sensor_of,
)
from mujoco_ros.model.urdf.importing.hardware.sensors import SensorRequest, SensorType
from mujoco_ros.model.urdf.importing.hardware.usage import Usage
from mujoco_ros.model.urdf.importing.urdf_file import SCALAR_TYPES, Urdf, UrdfMimic

_ALWAYS = ("preserveFixedJoint", "disableFixedJointLumping")
"""Elements that ask for what holds anyway: every link is a body."""
_WHEEL_DRIVES = ("diff_drive", "diff-drive", "skid_steer")
"""Parts of the file names of plugins that drive wheels; their joints are in ``<…joint>``."""
_DISPLAY = ("always_on", "visualize")
"""Elements of a sensor that do not change what it measures."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LidarMount:
    """A lidar, the link that it is on, and its pose there."""

    config: LidarConfig
    link: str
    pose: Pose


@dataclass(kw_only=True, slots=True)
class GazeboContent:
    """The content of all ``<gazebo>`` elements of a URDF.

    Attributes:
        friction: Sliding friction by link.
        mimics: Mimics by joint.
        velocity: Wheels that a plugin drives.
        sensors: IMUs, force-torque and contact sensors.
        cameras: Cameras, each with its link as `body`.
        lidars: Lidars.
    """

    friction: dict[str, float] = field(default_factory=dict)
    mimics: dict[str, UrdfMimic] = field(default_factory=dict)
    velocity: set[str] = field(default_factory=set)
    sensors: list[SensorRequest] = field(default_factory=list)
    cameras: list[CameraConfig] = field(default_factory=list)
    lidars: list[LidarMount] = field(default_factory=list)


def read_gazebo(elements: Iterable[ET.Element], urdf: Urdf, usage: Usage) -> GazeboContent:
    """Read the ``<gazebo>`` elements of a URDF."""
    found, names = GazeboContent(), set[str]()
    for element in elements:
        usage.use(element)
        reference = element.get("reference", "").strip()
        if reference in urdf.links:
            _read_link(element, reference, found, usage)
            _read_sensors(element, reference, "", found, names, usage)
        elif reference in urdf.joints:
            for tag in _ALWAYS:
                usage.text(element, tag)
            link = urdf.joints[reference].child
            _read_sensors(element, link, reference, found, names, usage)
        elif reference:
            usage.reject(element, f"the robot has no link or joint '{reference}'")
        else:
            for plugin in element.findall("plugin"):
                _read_plugin(plugin, urdf, found, usage)
    return found


def _read_link(element: ET.Element, link: str, found: GazeboContent, usage: Usage) -> None:
    first, second = usage.value(element, "mu1"), Usage().value(element, "mu2")
    if first is None:
        return
    if first == second:
        usage.value(element, "mu2")
    if first >= 0.0:
        found.friction[link] = first


def _read_sensors(
    element: ET.Element,
    link: str,
    joint: str,
    found: GazeboContent,
    names: set[str],
    usage: Usage,
) -> None:
    for sensor in element.findall("sensor"):
        kind = sensor.get("type", "").strip()
        usage.use(sensor)
        for tag in _DISPLAY:
            usage.text(sensor, tag)
        try:
            if kind in CAMERAS:
                name = _free_name(sensor, link, names)
                cameras = list(cameras_of(sensor, name, link, usage))
                found.cameras += cameras
                names.update(camera.name for camera in cameras)
            elif kind in LIDARS:
                name = _free_name(sensor, link, names)
                lidar = lidar_of(sensor, name, link, usage)
                if lidar is None:
                    raise UserInputError("it has no <ray> or <lidar>")
                found.lidars.append(LidarMount(config=lidar[0], link=link, pose=lidar[1]))
                names.add(name)
            elif request := site_sensor_of(sensor, link=link, joint=joint, usage=usage):
                found.sensors.append(request)
            else:
                raise UserInputError("no sensor of this type is simulated")
        except UserInputError as error:
            usage.reject(sensor, str(error))


def _free_name(sensor: ET.Element, link: str, names: Container[str]) -> str:
    """Return the name of a camera or lidar, which begins with its link if it is taken."""
    name = to_name(sensor.get("name", "")) or to_name(f"{link}_{sensor.get('type', '')}")
    return name if name not in names else unique_name(to_name(f"{link}_{name}"), names)


def _read_plugin(plugin: ET.Element, urdf: Urdf, found: GazeboContent, usage: Usage) -> None:
    """Read a plugin for an IMU, a force-torque sensor, wheels or a mimic."""
    file = plugin.get("filename", "")
    if "ros2_control" in file or "ros_control" in file:
        usage.use_all(plugin)  # the simulator's own controllers replace it
    elif "ros_imu" in file and (link := plugin.findtext("bodyName", "").strip()) in urdf.links:
        usage.text(plugin, "bodyName")
        usage.use(plugin)
        found.sensors.append(_of_plugin(plugin, SensorType.IMU, link=link))
    elif "ros_ft_sensor" in file and (
        (joint := plugin.findtext("jointName", "").strip()) in urdf.joints
    ):
        usage.text(plugin, "jointName")
        usage.use(plugin)
        link = urdf.joints[joint].child
        found.sensors.append(_of_plugin(plugin, SensorType.FORCE_TORQUE, link=link, joint=joint))
    elif any(it in file for it in _WHEEL_DRIVES):
        wheels = [it for it in plugin if it.tag.lower().endswith("joint")]
        for wheel in wheels:
            if (wheel.text or "").strip() in urdf.joints:
                usage.use(wheel)
                found.velocity.add((wheel.text or "").strip())
    elif "mimic" in file:
        _read_mimic(plugin, urdf, found, usage)


def _of_plugin(
    plugin: ET.Element, kind: SensorType, *, link: str, joint: str = ""
) -> SensorRequest:
    name = plugin.get("name", "").strip()
    return SensorRequest(element=plugin, name=name, type=kind, link=link, joint=joint)


def _read_mimic(plugin: ET.Element, urdf: Urdf, found: GazeboContent, usage: Usage) -> None:
    leader, joint = (plugin.findtext(tag, "").strip() for tag in ("joint", "mimicJoint"))
    scalar = [name for name, it in urdf.joints.items() if it.type in SCALAR_TYPES]
    if joint not in scalar or leader not in scalar or joint == leader:
        return
    usage.use(plugin)
    for tag in ("joint", "mimicJoint"):
        usage.text(plugin, tag)
    factor = usage.value(plugin, "multiplier")
    found.mimics[joint] = UrdfMimic(
        joint=leader,
        multiplier=1.0 if factor is None else factor,
        offset=usage.value(plugin, "offset") or 0.0,
    )
