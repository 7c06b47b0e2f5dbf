"""Drives and sensors of a URDF, from all elements that declare them."""

import logging
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, replace

import mujoco

from mujoco_ros.model.sensors.cameras import CameraConfig, edit_cameras
from mujoco_ros.model.sensors.lidars import LidarConfig, edit_lidars
from mujoco_ros.model.urdf.importing.hardware.gazebo import GazeboContent, read_gazebo
from mujoco_ros.model.urdf.importing.hardware.ros2_control import (
    ControlledHardware,
    JointTransmission,
    read_ros2_control,
    read_transmissions,
)
from mujoco_ros.model.urdf.importing.hardware.site_sensors import add_site_sensors
from mujoco_ros.model.urdf.importing.markup import Usage
from mujoco_ros.model.urdf.importing.urdf_file import (
    HARDWARE,
    SCALAR_TYPES,
    Drive,
    Urdf,
    UrdfJoint,
    UrdfMimic,
)

_LARGEST_FRICTION = 1.0  # sliding friction of a world in MuJoCo, by default

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hardware:
    """What a URDF declares beyond links and joints."""

    elements: tuple[ET.Element, ...]
    control: ControlledHardware
    transmissions: Mapping[str, JointTransmission]
    gazebo: GazeboContent
    usage: Usage

    def apply(self, urdf: Urdf) -> Urdf:
        """Return the URDF with the armatures, mimics and drives that are declared."""
        carrying, mimics = self._carrying(urdf), self._mimics(urdf)
        return urdf.with_joints(
            {
                name: self._applied(joint, mimics.get(name), name in carrying)
                for name, joint in urdf.joints.items()
            }
        )

    @property
    def declared(self) -> frozenset[str]:
        """Return the joints whose drive is declared."""
        named = {*self.control.interfaces, *self.transmissions, *self.gazebo.velocity}
        return frozenset(named)

    def _carrying(self, urdf: Urdf) -> set[str]:
        """Return the joints that have a declared drive, or carry one that has."""
        declared = self.declared
        links: set[str] = set()  # below which there is a declared drive
        carrying = set()
        for joint, link in reversed(list(urdf.depth_first())):
            if joint is not None and (joint.name in declared or link.name in links):
                carrying.add(joint.name)
                links.add(joint.parent)
        return carrying or set(urdf.joints)

    def _mimics(self, urdf: Urdf) -> dict[str, UrdfMimic]:
        """Return all mimics by joint; ``<mimic>`` precedes, and none mimics itself."""
        found = {
            joint.name: joint.mimic for joint in urdf.joints.values() if joint.mimic is not None
        }
        for name, mimic in (self.control.mimics | self.gazebo.mimics).items():
            leaders, leader = {name}, mimic.joint
            while leader in found and leader not in leaders:
                leaders.add(leader)
                leader = found[leader].joint
            if leader not in leaders:
                found.setdefault(name, mimic)
        return found

    def _applied(self, joint: UrdfJoint, mimic: UrdfMimic | None, is_carrying: bool) -> UrdfJoint:
        if joint.type not in SCALAR_TYPES:
            return joint
        transmission = self.transmissions.get(joint.name, JointTransmission())
        return replace(
            joint,
            armature=transmission.armature if joint.armature is None else joint.armature,
            mimic=mimic,
            drive=self._drive(joint, is_carrying),
        )

    def _drive(self, joint: UrdfJoint, is_carrying: bool) -> Drive:
        interfaces = self.control.interfaces.get(joint.name)
        if not interfaces and joint.name in self.transmissions:
            interfaces = self.transmissions[joint.name].interfaces or frozenset({"effort"})
        if not interfaces and joint.name in self.gazebo.velocity:
            interfaces = frozenset({"velocity"})
        if interfaces is None:
            # The castors of a robot whose other joints have a declared drive roll freely.
            return "none" if joint.type == "continuous" and not is_carrying else "motor"
        if not interfaces:
            return "none"
        return "velocity" if interfaces == {"velocity"} else "motor"

    def edit_spec(self, spec: mujoco.MjSpec, urdf: Urdf) -> None:
        """Add sensors, cameras and the sites of lidars to the spec of `urdf`, and set friction."""
        self._set_friction(spec)
        for joint in spec.joints:
            if joint.name in self.gazebo.springs:
                joint.stiffness[0], joint.springref = self.gazebo.springs[joint.name]
        self._drop_unmounted(spec, urdf)
        edit_cameras(spec, self.gazebo.cameras, str(urdf.path))
        edit_lidars(spec, self.gazebo.lidars, str(urdf.path))
        # Last, because their names can differ from those in the file.
        add_site_sensors(spec, urdf, (*self.gazebo.sensors, *self.control.sensors), self.usage)

    def _drop_unmounted(self, spec: mujoco.MjSpec, urdf: Urdf) -> None:
        """Leave out cameras and lidars on massless links that are part of a joint."""

        def is_mounted(link: str | None) -> bool:
            return link == urdf.root or spec.body(link or "") is not None

        found = self.gazebo
        dropped = [camera.name for camera in found.cameras if not is_mounted(camera.body)]
        dropped += [lidar.name for lidar in found.lidars if not is_mounted(lidar.body)]
        if dropped:
            _LOGGER.warning(
                "%s: sensors on massless links that are part of a joint are left out: %s",
                urdf.path,
                ", ".join(dropped),
            )
            found.cameras[:] = [camera for camera in found.cameras if is_mounted(camera.body)]
            found.lidars[:] = [lidar for lidar in found.lidars if is_mounted(lidar.body)]

    def _set_friction(self, spec: mujoco.MjSpec) -> None:
        """Let the smaller friction of two bodies count, as in Gazebo; MuJoCo takes the larger."""
        for link, friction in self.gazebo.friction.items():
            body = spec.body(link)
            if body is None or friction >= _LARGEST_FRICTION:
                continue
            for geom in body.geoms:
                if geom.contype:
                    geom.friction[0] = friction
                    geom.priority = 1

    @property
    def cameras(self) -> tuple[CameraConfig, ...]:
        """Return the settings of the cameras, which the spec has."""
        return tuple(replace(camera, body=None, pose=None) for camera in self.gazebo.cameras)

    @property
    def lidars(self) -> tuple[LidarConfig, ...]:
        """Return the lidars, whose sites the spec has."""
        return tuple(
            replace(lidar, site=lidar.name, body=None, pose=None) for lidar in self.gazebo.lidars
        )

    def log(self, urdf: Urdf) -> None:
        """Log the joints without a drive, and, as one warning, the elements that are not used."""
        passive = [
            joint.name
            for joint in urdf.joints.values()
            if joint.drive == "none" and not joint.mimic
        ]
        if passive:
            _LOGGER.info(
                "%s: joints that have no command interface are passive: %s",
                urdf.path,
                ", ".join(passive),
            )
        unused = self.usage.unused(self.elements)
        if unused:
            _LOGGER.warning(
                "%s: elements without effect: %s",
                urdf.path,
                ", ".join(f"{label} ({count})" for label, count in unused.items()),
            )


def read_hardware(urdf: Urdf) -> Hardware:
    """Read the elements of a URDF that declare drives and sensors."""
    usage = Usage()
    of = {tag: [element for element in urdf.hardware if element.tag == tag] for tag in HARDWARE}
    joints = {name for name, joint in urdf.joints.items() if joint.type in SCALAR_TYPES}
    for block in of["ros2_control"]:
        usage.use(block)
    for inputs in of["mujoco_inputs"]:
        usage.reject(inputs, "for the converter of mujoco_ros2_control; <mujoco> is read")
    control = read_ros2_control(of["ros2_control"], joints, usage)
    return Hardware(
        elements=urdf.hardware,
        control=control,
        transmissions=read_transmissions(
            [*of["transmission"], *control.transmissions], joints, usage
        ),
        gazebo=read_gazebo(of["gazebo"], urdf, usage),
        usage=usage,
    )
