"""IMUs, force-torque and contact sensors of a URDF as MuJoCo sensors at sites."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import mujoco
import numpy as np

from mujoco_ros.model.naming import to_name, unique_name
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.urdf.importing.markup import Usage
from mujoco_ros.model.urdf.importing.urdf_file import Urdf


class SensorType(StrEnum):
    """Type of a sensor, as in Gazebo."""

    IMU = "imu"
    FORCE_TORQUE = "force_torque"
    CONTACT = "contact"


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorRequest:
    """A sensor that a URDF declares."""

    element: ET.Element
    name: str  # its name, which may be taken or invalid
    type: SensorType
    link: str = ""  # the link that it is on; empty if the element names none
    # The joint whose load a force-torque sensor measures; empty for the joint of the link
    joint: str = ""
    pose: Pose = field(default_factory=Pose)  # pose in the frame of the link
    in_parent_frame: bool = False  # whether it reports in the axes of the joint's parent link
    # Names of the collision elements of a contact sensor; all without any
    collisions: tuple[str, ...] = ()
    # Standard deviation by MuJoCo sensor: ``gyro``, ``force``, …
    noise: Mapping[str, float] = field(default_factory=dict)
    has_orientation: bool = True  # whether an IMU measures its orientation
    used: tuple[ET.Element, ...] = ()  # elements that are used if the sensor is added


_SUFFIX = "_sensor"
_LINK_SUFFIXES = ("", "_link", "_frame")
_FORCE_TORQUE_FRAMES = ("ft_frame", "tool0")
"""Frames of industrial arms at which forces are measured; ``tool0`` is from REP-199."""


HIDDEN_GROUP = 4
"""Group of sites that viewers hide by default."""
_MARGIN = 5e-3  # distance [m] by which the site of a contact sensor surrounds the collision shapes
_ORIENTATION = "framequat"
_SENSORS = {
    SensorType.IMU: {
        "gyro": mujoco.mjtSensor.mjSENS_GYRO,
        "accelerometer": mujoco.mjtSensor.mjSENS_ACCELEROMETER,
        _ORIENTATION: mujoco.mjtSensor.mjSENS_FRAMEQUAT,
    },
    SensorType.FORCE_TORQUE: {
        "force": mujoco.mjtSensor.mjSENS_FORCE,
        "torque": mujoco.mjtSensor.mjSENS_TORQUE,
    },
    SensorType.CONTACT: {"touch": mujoco.mjtSensor.mjSENS_TOUCH},
}


_SITE = mujoco.mjtObj.mjOBJ_SITE


def add_site_sensors(
    spec: mujoco.MjSpec, urdf: Urdf, requests: Iterable[SensorRequest], usage: Usage
) -> None:
    """Add a site with MuJoCo sensors for each request, and reject impossible requests.

    The site has the name of the sensor, or of link and sensor if that is taken. A sensor that only
    reads another one, as in a ``<ros2_control>`` beside Gazebo, is not added again; sensors that
    others may read come first.
    """
    sites = _Sites(spec, urdf)
    for request in requests:
        fault = sites.add(request)
        if fault:
            usage.reject(request.element, fault)
            continue
        for element in (request.element, *request.used):
            usage.use(element)


class _Sites:
    def __init__(self, spec: mujoco.MjSpec, urdf: Urdf) -> None:
        self._spec, self._urdf = spec, urdf
        self._above = {joint.child: joint for joint in urdf.joints.values()}
        self._has_mass: set[str] = set()  # links that have mass, or carry a link that has
        for joint, link in reversed(list(urdf.depth_first())):
            if link.inertial is not None:
                self._has_mass.add(link.name)
            if joint is not None and link.name in self._has_mass:
                self._has_mass.add(joint.parent)
        self._names = {element.name for element in (*spec.sites, *spec.sensors)}
        # Sites that have sensors already
        self._measured = {sensor.objname for sensor in spec.sensors if sensor.objtype == _SITE}
        self._placed: set[tuple[SensorType, str]] = set()  # by name and by link
        self._model: mujoco.MjModel | None = None

    def add(self, request: SensorRequest) -> str:
        """Add a sensor; return why that is not possible, or an empty text."""
        link = request.link
        if request.element.findtext("param[@name='site']", "").strip() in self._measured:
            return ""
        if link not in self._urdf.links:
            if (request.type, request.name) in self._placed:
                return ""
            link = self._link_of(request.name, request.type)
            if (request.type, link) in self._placed:
                return ""
            if not link:
                return 'it names no link; give it a <param name="frame_id">'
        body, pose = self._mount(request, link)
        if body is None:
            return f"the massless link '{link}' is part of a joint"
        shape = {"pos": pose.position, "quat": pose.quat_wxyz}
        if request.type is SensorType.CONTACT:
            lower, upper = self._bounds(body, request.collisions)
            if not (lower < upper).all():
                return f"the link '{link}' has no collision shape"
            shape = {
                "type": mujoco.mjtGeom.mjGEOM_BOX,
                "pos": (lower + upper) / 2,
                "size": (upper - lower) / 2 + _MARGIN,
            }
        name = to_name(request.name) or to_name(f"{link}_{request.type}")
        if name in self._names:
            name = unique_name(to_name(f"{link}_{name}"), self._names)
        body.add_site(name=name, group=HIDDEN_GROUP, **shape)
        self._names.add(name)
        self._placed |= {(request.type, request.name), (request.type, link)}
        self._add_sensors(request, name)
        return ""

    def _link_of(self, sensor: str, kind: SensorType) -> str:
        """Return the link of a sensor by its name; empty if there is none.

        The link has the same name, or the suffix ``_link`` or ``_frame``, also without the sensor's
        suffix ``_sensor``; a force-torque sensor of an arm is at ``ft_frame`` or ``tool0``, with
        the same prefix as the sensor.
        """
        for stem in (sensor, sensor.removesuffix(_SUFFIX)):
            for suffix in _LINK_SUFFIXES:
                if stem + suffix in self._urdf.links:
                    return stem + suffix
        if kind is SensorType.FORCE_TORQUE:
            for frame in _FORCE_TORQUE_FRAMES:
                found = [
                    link
                    for link in self._urdf.links
                    if link.endswith(frame) and sensor.startswith(link.removesuffix(frame))
                ]
                if found:
                    return max(found, key=len)
        return ""

    def _carrier(self, link: str, pose: Pose) -> tuple[str, Pose]:
        """Return the link whose load a force-torque sensor at `link` measures, and the pose there.

        A link that carries no mass has no load. Its parents are fixed to it up to a moving joint;
        the nearest one that carries mass is measured.
        """
        while link not in self._has_mass and link in self._above:
            joint = self._above[link]
            if joint.type != "fixed":
                break
            link, pose = joint.parent, joint.origin @ pose
        return link, pose

    def _mount(self, request: SensorRequest, link: str) -> tuple[mujoco.MjsBody | None, Pose]:
        pose = request.pose
        if request.in_parent_frame and request.joint:
            turn = self._urdf.joints[request.joint].origin.inverse().quat_wxyz
            pose = Pose(quat_wxyz=turn)
        if request.type is SensorType.FORCE_TORQUE and not request.joint:
            link, pose = self._carrier(link, pose)
        is_world = link == self._urdf.root and self._spec.body(link) is None
        return (self._spec.worldbody if is_world else self._spec.body(link)), pose

    def _add_sensors(self, request: SensorRequest, site: str) -> None:
        sensors = _SENSORS[request.type]
        for kind, sensor_type in sensors.items():
            if kind == _ORIENTATION and not request.has_orientation:
                continue
            sensor = self._spec.add_sensor(
                name=site if len(sensors) == 1 else f"{site}_{kind}",
                type=sensor_type,
                objtype=_SITE,
                objname=site,
            )
            sensor.noise = request.noise.get(kind, 0.0)
            self._names.add(sensor.name)

    def _bounds(
        self, body: mujoco.MjsBody, collisions: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the corners of a box around collision shapes of a body, in its frame [m].

        Shapes have their names in the URDF. If none is known (a merged link), all shapes count.
        """
        self._model = model = self._model or self._spec.compile()
        of_body = model.geom_bodyid == model.body(body.name).id
        geoms = np.flatnonzero(of_body & (model.geom_contype != 0)).tolist()
        geoms = [geom for geom in geoms if model.geom(geom).name in collisions] or geoms
        lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
        for geom in geoms:
            within = Pose(position=model.geom_pos[geom], quat_wxyz=model.geom_quat[geom])
            centre, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
            middle = within.position + within.matrix @ centre
            reach = np.abs(within.matrix) @ half
            lower, upper = np.minimum(lower, middle - reach), np.maximum(upper, middle + reach)
        return lower, upper
