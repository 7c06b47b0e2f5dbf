"""``<gazebo>`` elements: friction of links, plugins, and sensors."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import to_name, unique_name
from mujoco_ros.model.pose import Pose, PoseConfig, quaternion_wxyz
from mujoco_ros.model.sensors.cameras import DEFAULT_RATE_HZ, CameraConfig, CameraNoise, Intrinsics
from mujoco_ros.model.sensors.lidars import DEFAULT_RATE_HZ as LIDAR_RATE_HZ
from mujoco_ros.model.sensors.lidars import (
    HorizontalConfig,
    LidarConfig,
    RangeConfig,
    VerticalConfig,
    is_topic,
)
from mujoco_ros.model.urdf.importing.hardware.site_sensors import SensorRequest, SensorType
from mujoco_ros.model.urdf.importing.markup import Usage
from mujoco_ros.model.urdf.importing.urdf_file import SCALAR_TYPES, Urdf, UrdfMimic

CAMERAS = ("camera", "depth", "depth_camera", "rgbd", "rgbd_camera", "multicamera")
LIDARS = ("ray", "gpu_ray", "lidar", "gpu_lidar")
_DEPTH_ONLY = ("depth", "depth_camera")

# Defaults of SDFormat.
_HORIZONTAL_FOV = 1.047
_WIDTH, _HEIGHT = 320, 240

_GREY_LEVELS = 255.0
_TURN = 2.0 * math.pi
_FARTHEST = 1e4  # largest range [m] of a lidar; Gazebo also has infinite ones


def sensor_pose(element: ET.Element, link: str, usage: Usage) -> Pose:
    """Return the ``<pose>`` of an element in the frame of its link."""
    found = element.find("pose")
    if found is None or found.get("relative_to", link) not in ("", link):
        return Pose()
    values = usage.values(element, "pose", 6)
    if values is None:
        return Pose()
    turn = np.array(values[3:])
    if found.get("degrees", "").strip() in ("true", "1"):
        turn = np.radians(turn)
    roll, pitch, yaw = turn.tolist()
    quat = quaternion_wxyz(PoseConfig(rpy=(roll, pitch, yaw)))
    return Pose(position=np.array(values[:3]), quat_wxyz=quat)


def cameras_of(element: ET.Element, name: str, link: str, usage: Usage) -> Iterator[CameraConfig]:
    """Yield the cameras of a sensor; the first one has its name, others append theirs."""
    pose = sensor_pose(element, link, usage)
    rate = _rate(element, DEFAULT_RATE_HZ, usage)
    for index, camera in enumerate(element.findall("camera")):
        usage.use(camera)
        width = int(usage.value(camera, "image/width") or _WIDTH)
        height = int(usage.value(camera, "image/height") or _HEIGHT)
        intrinsics = _intrinsics(camera, width, height, usage)
        noise = 0.0 if element.get("type") in _DEPTH_ONLY else _deviation(camera, "noise", usage)
        yield CameraConfig(
            name=name if index == 0 else f"{name}_{camera.get('name', index)}",
            body=link,
            pose=_pose_config(pose @ sensor_pose(camera, link, usage)),
            resolution=(width, height),
            intrinsics=intrinsics,
            rate=rate,
            noise=CameraNoise(colour=noise * _GREY_LEVELS),
        )


def _pose_config(pose: Pose) -> PoseConfig:
    (x, y, z), (qw, qx, qy, qz) = pose.position.tolist(), pose.quat_wxyz.tolist()
    return PoseConfig(xyz=(x, y, z), quaternion_xyzw=(qx, qy, qz, qw))


def _intrinsics(camera: ET.Element, width: int, height: int, usage: Usage) -> Intrinsics:
    fx, fy = (usage.value(camera, f"lens/intrinsics/{key}") for key in ("fx", "fy"))
    cx = usage.value_or(camera, "lens/intrinsics/cx", (width - 1) / 2)
    cy = usage.value_or(camera, "lens/intrinsics/cy", (height - 1) / 2)
    if fx and fy:
        return Intrinsics(fx=fx, fy=fy, cx=cx, cy=cy)
    angle = usage.value_or(camera, "horizontal_fov", _HORIZONTAL_FOV)
    if not 0 < angle < math.pi:
        raise UserInputError(f"a horizontal_fov of {angle:g} rad has no image plane")
    focal = width / 2 / math.tan(angle / 2)
    return Intrinsics(fx=focal, fy=focal, cx=(width - 1) / 2, cy=(height - 1) / 2)


def _rate(element: ET.Element, default: float, usage: Usage) -> float:
    rate = usage.value_or(element, "update_rate", default)
    return rate if rate > 0 else default


def lidar_of(
    element: ET.Element, name: str, link: str, usage: Usage, taken: Container[str] = ()
) -> LidarConfig | None:
    """Return the lidar of a sensor, without a topic that is `taken`; None without a scan."""
    content = next(
        (child for child in map(element.find, ("ray", "lidar")) if child is not None), None
    )
    if content is None:
        return None
    samples, low, high = _fan(content, "horizontal", 360, math.pi, usage)
    rows, bottom, top = _fan(content, "vertical", 1, 0.0, usage)
    default = RangeConfig()
    topic = element.findtext("topic", "").strip().strip("/")
    if is_topic(topic) and topic not in taken:
        usage.text(element, "topic")
    else:
        topic = ""
    return LidarConfig(
        name=name,
        topic=topic,
        body=link,
        pose=_pose_config(sensor_pose(element, link, usage)),
        horizontal=HorizontalConfig(samples=samples, min=low, max=min(high, low + _TURN)),
        vertical=VerticalConfig(
            samples=rows, min=max(bottom, -math.pi / 2), max=min(top, math.pi / 2)
        ),
        range=RangeConfig(
            min=usage.value_or(content, "range/min", default.min),
            max=_range_max(content, default.max, usage),
        ),
        rate=_rate(element, LIDAR_RATE_HZ, usage),
        noise=_deviation(content, "noise", usage),
    )


def _fan(
    content: ET.Element, axis: str, count: int, reach: float, usage: Usage
) -> tuple[int, float, float]:
    """Return the number of rays of a scan, and its first and last angle [rad]."""
    path = f"scan/{axis}"
    number = int(usage.value_or(content, f"{path}/samples", count))
    first = usage.value_or(content, f"{path}/min_angle", 0.0 - reach)
    last = usage.value_or(content, f"{path}/max_angle", reach)
    if content.findtext(f"{path}/resolution", "1").strip() in ("1", "1.0"):
        usage.text(content, f"{path}/resolution")
    return number, first, first if number == 1 else last


def _range_max(content: ET.Element, default: float, usage: Usage) -> float:
    if content.findtext("range/max", "").strip().lstrip("+").lower() in ("inf", "infinity"):
        usage.text(content, "range/max")
        return _FARTHEST
    return min(usage.value_or(content, "range/max", default), _FARTHEST)


def site_sensor_of(
    element: ET.Element, *, link: str, joint: str, usage: Usage
) -> SensorRequest | None:
    """Return an IMU, a force-torque or a contact sensor; None for another type."""
    kind, name = element.get("type", ""), element.get("name", "").strip()
    pose = sensor_pose(element, link, usage)
    if kind == SensorType.IMU:
        return SensorRequest(
            element=element, name=name, type=SensorType.IMU, link=link, pose=pose,
            noise={
                "gyro": _axes_deviation(element, "imu/angular_velocity", "imu/noise/rate", usage),
                "accelerometer": _axes_deviation(
                    element, "imu/linear_acceleration", "imu/noise/accel", usage
                ),
            },
        )  # fmt: skip
    if kind == SensorType.FORCE_TORQUE:
        frame = element.findtext("force_torque/frame", "child").strip()
        is_parent = frame == "parent"
        usage.text(element, "force_torque/frame")
        direction = element.findtext("force_torque/measure_direction", "").strip()
        if direction == "child_to_parent":  # as the topic, by default
            usage.text(element, "force_torque/measure_direction")
        return SensorRequest(
            element=element, name=name, type=SensorType.FORCE_TORQUE, link=link, joint=joint,
            pose=Pose() if is_parent else pose, in_parent_frame=is_parent,
            noise={
                group: _axes_deviation(element, f"force_torque/{group}", "", usage)
                for group in ("force", "torque")
            },
        )  # fmt: skip
    if kind == SensorType.CONTACT:
        named = element.findall("contact/collision")
        for collision in named:
            usage.use(collision)
        collisions = tuple((collision.text or "").strip() for collision in named)
        return SensorRequest(
            element=element, name=name, type=SensorType.CONTACT, link=link, collisions=collisions
        )
    return None


def _axes_deviation(element: ET.Element, of_axes: str, of_all: str, usage: Usage) -> float:
    """Return the largest standard deviation of three axes; `of_all` names one for all axes."""
    found = [_deviation(element, f"{of_axes}/{axis}/noise", usage) for axis in "xyz"]
    if of_all:
        usage.text(element, f"{of_all.rpartition('/')[0]}/type")
        found.append(_plain_deviation(element, of_all, usage))
    return max(found)


def _deviation(element: ET.Element, path: str, usage: Usage) -> float:
    """Return the standard deviation of Gaussian noise; 0 for another kind of noise."""
    noise = element.find(path)
    if noise is None:
        return 0.0
    kind = noise.get("type", noise.findtext("type", "gaussian")).strip()
    if kind not in ("gaussian", "gaussian_quantized"):
        return 0.0
    usage.use(noise)
    usage.text(noise, "type")
    return _plain_deviation(element, path, usage)


def _plain_deviation(element: ET.Element, path: str, usage: Usage) -> float:
    """Return a standard deviation; a mean and a bias of zero count as used."""
    noise = element.find(path)
    if noise is None:
        return 0.0
    for key in ("mean", "bias_mean", "bias_stddev"):
        if Usage().value(noise, key) == 0.0:
            usage.value(noise, key)
    return max(usage.value(noise, "stddev") or 0.0, 0.0)


_ALWAYS = ("preserveFixedJoint", "disableFixedJointLumping")
"""Elements that ask for what holds anyway: every link is a body."""
_WHEEL_DRIVES = (
    *("diff_drive", "diff-drive", "skid_steer", "ackermann", "mecanum_drive", "mecanum-drive"),
)
"""Parts of the file names of plugins that drive wheels; their joints are in ``<…joint>``."""
_HOLONOMIC = ("planar_move", "mecanum")
"""Parts of the file names of plugins of robots that can move in every direction."""
_DISPLAY = ("always_on", "visualize")  # elements of a sensor that do not change what it measures


@dataclass(kw_only=True, slots=True)
class GazeboContent:
    """The content of all ``<gazebo>`` elements of a URDF."""

    friction: dict[str, float] = field(default_factory=dict)  # sliding friction by link
    mimics: dict[str, UrdfMimic] = field(default_factory=dict)
    velocity: set[str] = field(default_factory=set)  # wheels that a plugin drives
    is_holonomic: bool = False  # whether a plugin moves the robot in every direction
    # Stiffness [Nm/rad or N/m] and position at rest [rad or m] of springs by joint
    springs: dict[str, tuple[float, float]] = field(default_factory=dict)
    # IMUs, force-torque and contact sensors
    sensors: list[SensorRequest] = field(default_factory=list)
    cameras: list[CameraConfig] = field(default_factory=list)
    lidars: list[LidarConfig] = field(default_factory=list)


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
            if (stiffness := usage.value(element, "springStiffness")) is not None:
                rest = usage.value_or(element, "springReference", 0.0)
                found.springs[reference] = max(stiffness, 0.0), rest
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
                taken = {lidar.topic for lidar in found.lidars}
                lidar = lidar_of(sensor, name, link, usage, taken)
                if lidar is None:
                    raise UserInputError("it has no <ray> or <lidar>")
                found.lidars.append(lidar)
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
    elif any(drive in file for drive in (*_WHEEL_DRIVES, *_HOLONOMIC)):
        usage.use(plugin)
        found.is_holonomic |= any(drive in file for drive in _HOLONOMIC)
        for wheel in plugin:
            name, tag = (wheel.text or "").strip(), wheel.tag.lower()
            if tag.endswith("joint") and "steering" not in tag and name in urdf.joints:
                usage.use(wheel)
                found.velocity.add(name)
    elif "mimic" in file:
        _read_mimic(plugin, urdf, found, usage)


def _of_plugin(
    plugin: ET.Element, kind: SensorType, *, link: str, joint: str = ""
) -> SensorRequest:
    name = plugin.get("name", "").strip()
    return SensorRequest(element=plugin, name=name, type=kind, link=link, joint=joint)


def _read_mimic(plugin: ET.Element, urdf: Urdf, found: GazeboContent, usage: Usage) -> None:
    leader, joint = (plugin.findtext(tag, "").strip() for tag in ("joint", "mimicJoint"))
    scalar = [
        name for name, scalar_joint in urdf.joints.items() if scalar_joint.type in SCALAR_TYPES
    ]
    if joint not in scalar or leader not in scalar or joint == leader:
        return
    usage.use(plugin)
    for tag in ("joint", "mimicJoint"):
        usage.text(plugin, tag)
    found.mimics[joint] = UrdfMimic(
        joint=leader,
        multiplier=usage.value_or(plugin, "multiplier", 1.0),
        offset=usage.value(plugin, "offset") or 0.0,
    )
