"""The link of a sensor whose description names none, and the load that it measures."""

from mujoco_ros.model.pose import Pose
from mujoco_ros.model.urdf.importing.hardware.sensors import SensorType
from mujoco_ros.model.urdf.importing.urdf_file import Urdf, UrdfJoint

_SUFFIX = "_sensor"
_LINK_SUFFIXES = ("", "_link", "_frame")
_FORCE_TORQUE_FRAMES = ("ft_frame", "tool0")
"""Frames of industrial arms at which forces are measured; ``tool0`` is that of REP-199."""


class LinkTree:
    """The links of a URDF with the joints above them, and the masses below."""

    def __init__(self, urdf: Urdf) -> None:
        """Index the links of `urdf`."""
        self._links = urdf.links
        self._above: dict[str, UrdfJoint] = {it.child: it for it in urdf.joints.values()}
        self._has_mass: set[str] = set()
        for joint, link in reversed(list(urdf.depth_first())):
            if link.inertial is not None:
                self._has_mass.add(link.name)
            if joint is not None and link.name in self._has_mass:
                self._has_mass.add(joint.parent)

    def link_of(self, sensor: str, kind: SensorType) -> str:
        """Return the link of a sensor by its name; empty if there is none.

        That is the link of the same name, or with the suffix ``_link`` or ``_frame``, also without
        the sensor's suffix ``_sensor``; a force-torque sensor of an arm is at ``ft_frame`` or
        ``tool0``, with the same prefix as the sensor.
        """
        for stem in (sensor, sensor.removesuffix(_SUFFIX)):
            for suffix in _LINK_SUFFIXES:
                if stem + suffix in self._links:
                    return stem + suffix
        if kind is SensorType.FORCE_TORQUE:
            for frame in _FORCE_TORQUE_FRAMES:
                found = [
                    link
                    for link in self._links
                    if link.endswith(frame) and sensor.startswith(link.removesuffix(frame))
                ]
                if found:
                    return max(found, key=len)
        return ""

    def carrier(self, link: str, pose: Pose) -> tuple[str, Pose]:
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
