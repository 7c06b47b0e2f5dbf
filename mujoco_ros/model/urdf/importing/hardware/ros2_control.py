"""``<ros2_control>`` and ``<transmission>`` elements: interfaces, mimics, rotors."""

import xml.etree.ElementTree as ET
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from math import prod

from mujoco_ros.model.urdf.importing.hardware.site_sensors import SensorRequest, SensorType
from mujoco_ros.model.urdf.importing.markup import Usage, is_plausible
from mujoco_ros.model.urdf.importing.urdf_file import UrdfMimic

_ROTOR_INERTIA = ("rotorInertia", "rotor_inertia", "motorInertia", "motor_inertia")
_REDUCTION = ("mechanicalReduction", "mechanical_reduction", "gear_ratio")
_INTERFACES_BY_SUFFIX = {"Position": "position", "Velocity": "velocity", "Effort": "effort"}
"""Command interfaces by the first word of ROS 1's, as in ``VelocityJointInterface``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JointTransmission:
    """The transmission of a joint."""

    interfaces: frozenset[str] = frozenset()  # command interfaces, empty if none is named
    # Inertia of the rotors at the joint [kg m² or kg]; None if none is named
    armature: float | None = None


def read_transmissions(
    elements: Iterable[ET.Element], joints: Container[str], usage: Usage
) -> dict[str, JointTransmission]:
    """Return the transmissions by joint.

    ``armature = rotor inertia · reduction²``, summed over the actuators of a transmission with one
    joint. The inertia has no tag of its own in ROS: ``<rotorInertia>``, ``<motorInertia>``, and
    Drake's ``rotor_inertia`` and ``gear_ratio``, are read in an ``<actuator>``.
    """
    found: dict[str, JointTransmission] = {}
    for element in elements:
        of_joints = element.findall("joint")
        names = {joint.get("name", "").strip() for joint in of_joints}
        if not names:  # PR2's have <flexJoint> and <rollJoint>
            named = {
                child.get("name", "") for child in element.iter() if child.tag.endswith("Joint")
            }
            found |= {
                joint: JointTransmission()
                for joint in named
                if joint in joints and joint not in found
            }
            usage.reject(element, "it has no <joint>")
            continue
        missing = sorted(name for name in names if name not in joints)
        if missing:
            usage.reject(element, f"the robot has no movable joint '{missing[0]}'")
            continue
        usage.use(element)
        for tag in ("type", "plugin"):
            usage.text(element, tag)
        armature = _armature(element, of_joints, usage) if len(names) == 1 else None
        of_actuators = set().union(
            *(_interfaces(actuator, usage) for actuator in element.iterfind("actuator"))
        )
        for joint in of_joints:
            usage.use(joint)
            name = joint.get("name", "").strip()
            before = found.get(name, JointTransmission())
            armatures = [value for value in (before.armature, armature) if value is not None]
            found[name] = JointTransmission(
                interfaces=before.interfaces | (_interfaces(joint, usage) or of_actuators),
                armature=sum(armatures) if armatures else None,
            )
            armature = None  # counted once, also if the joint is listed twice
    return found


def _armature(element: ET.Element, joints: Iterable[ET.Element], usage: Usage) -> float | None:
    """Return the inertia of all rotors at the joint; None if there is none."""
    armature: float | None = None
    of_joint = prod(_reduction(joint, Usage()) for joint in joints)
    for part in (*joints, *element.findall("actuator")):
        if abs(_reduction(part, Usage())) == 1.0:
            _reduction(part, usage)
    for actuator in element.findall("actuator"):
        usage.use(actuator)
        inertia = _first(actuator, _ROTOR_INERTIA, Usage())
        if inertia is None or inertia < 0.0:
            continue
        _first(actuator, _ROTOR_INERTIA, usage)
        reduction = of_joint * _reduction(actuator, usage)
        reflected = inertia * reduction * reduction
        if is_plausible(reflected):
            armature = (armature or 0.0) + reflected
    if armature is not None:
        for joint in joints:
            _reduction(joint, usage)
    return armature


def _interfaces(element: ET.Element, usage: Usage) -> set[str]:
    found = set()
    for interface in element.iterfind("hardwareInterface"):
        kind = (interface.text or "").strip().rpartition("/")[2]
        for word, name in _INTERFACES_BY_SUFFIX.items():
            if kind.startswith(word):
                usage.use(interface)
                found.add(name)
    return found


def _reduction(element: ET.Element, usage: Usage) -> float:
    """Return the reduction of a joint or actuator, 1 without one."""
    reduction = _first(element, _REDUCTION, usage)
    return 1.0 if reduction is None else reduction


def _first(element: ET.Element, tags: Iterable[str], usage: Usage) -> float | None:
    """Return the number in the first child with one of several tags, in any XML namespace."""
    for tag in tags:
        for path in (tag, f"{{*}}{tag}"):
            value = usage.value(element, path)
            if value is not None:
                return value
    return None


_INTERFACES = ("position", "velocity", "effort")
_MEASURED = {
    SensorType.IMU: ("angular_velocity", "linear_acceleration", "orientation"),
    SensorType.FORCE_TORQUE: ("force", "torque"),
}
"""Groups of state interfaces ``<group>.<axis>`` that a sensor can have."""
_OF_SCENES = {
    "mujoco_model": "a scene with the keys `model` and `urdf` has both",
    "pids_config_file": "the key `gains` of a scene, or gains of joints, replace it",
    "initial_keyframe": "the key `keyframe` of a scene replaces it",
    "override_start_position_file": "the key `keyframe` of a scene replaces it",
}
"""Parameters of mujoco_ros2_control that change the simulation, and what has their effect."""
_FRAME_PARAMETERS = ("frame_id", "frame", "link", "site", "body")


@dataclass(kw_only=True, slots=True)
class ControlledHardware:
    """The content of all blocks of a URDF."""

    # Command interfaces by joint; empty for a joint that is only measured
    interfaces: dict[str, frozenset[str]] = field(default_factory=dict)
    initial: dict[str, float] = field(default_factory=dict)  # start positions by joint [rad or m]
    mimics: dict[str, UrdfMimic] = field(default_factory=dict)
    sensors: list[SensorRequest] = field(default_factory=list)  # sensors, without their links
    transmissions: list[ET.Element] = field(default_factory=list)


def read_ros2_control(
    blocks: Iterable[ET.Element], joints: Container[str], usage: Usage
) -> ControlledHardware:
    """Read the blocks of a URDF with some movable joints."""
    found = ControlledHardware()
    for block in blocks:
        for hardware in block.findall("hardware"):
            usage.use_all(hardware)  # its plugin is replaced by the simulator
            for parameter in hardware.findall("param"):
                if reason := _OF_SCENES.get(parameter.get("name", "")):
                    usage.reject(parameter, reason)
        found.transmissions += block.findall("transmission")
        for joint in block.findall("joint"):
            name = joint.get("name", "").strip()
            if name in joints:
                _read_joint(joint, name, joints, found, usage)
            else:
                usage.reject(joint, f"the robot has no movable joint '{name}'")
        found.sensors += [
            request for element in block.findall("sensor") if (request := _sensor(element, usage))
        ]
    return found


def _read_joint(
    joint: ET.Element,
    name: str,
    joints: Container[str],
    found: ControlledHardware,
    usage: Usage,
) -> None:
    usage.use(joint)
    taken = set()
    for interface in joint.findall("command_interface"):
        kind = interface.get("name", "").strip()
        if kind in _INTERFACES:
            usage.use(interface)
            taken.add(kind)
    found.interfaces[name] = found.interfaces.get(name, frozenset()) | taken
    for interface in joint.findall("state_interface"):
        if interface.get("name", "").strip() in _INTERFACES:
            usage.use(interface)
            _read_initial(interface, name, found, usage)
    initial = _number(usage.parameter(joint, "initial_position"))
    if initial is not None:
        found.initial.setdefault(name, initial)
    target = joint.find("param[@name='mimic']")
    if target is not None and (target.text or "").strip() in joints:
        factor = _number(usage.parameter(joint, "multiplier"))
        found.mimics[name] = UrdfMimic(
            joint=usage.parameter(joint, "mimic"),
            multiplier=1.0 if factor is None else factor,
            offset=_number(usage.parameter(joint, "offset")) or 0.0,
        )


def _read_initial(
    interface: ET.Element, name: str, found: ControlledHardware, usage: Usage
) -> None:
    """Read a start position; a start velocity or effort is used if it is zero."""
    parameter = interface.find("param[@name='initial_value']")
    if parameter is None:
        return
    initial = _number(parameter.text or "")
    if initial is not None and interface.get("name", "").strip() == "position":
        usage.use(parameter)
        found.initial[name] = initial
    elif not initial:
        usage.use(parameter)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if is_plausible(value) else None


def _sensor(element: ET.Element, usage: Usage) -> SensorRequest | None:
    groups: dict[str, list[ET.Element]] = {}
    for interface in element.findall("state_interface"):
        group, _, axis = interface.get("name", "").strip().rpartition(".")
        if axis in tuple("xyzw"):
            groups.setdefault(group, []).append(interface)
    if groups.keys() & {"angular_velocity", "linear_acceleration"}:
        kind = SensorType.IMU
    elif groups.keys() & {"force", "torque"}:
        kind = SensorType.FORCE_TORQUE
    else:
        if (
            element.find("param[@name='site']") is not None
            or element.find("param[@name='body']") is not None
        ):
            usage.use_all(element)  # a pose, of sensors of the <mujoco> extension
        return None
    frame = next((it for key in _FRAME_PARAMETERS if (it := usage.parameter(element, key))), "")
    return SensorRequest(
        element=element,
        name=element.get("name", "").strip(),
        type=kind,
        link=frame,
        used=tuple(interface for group in _MEASURED[kind] for interface in groups.get(group, ())),
        has_orientation=kind is not SensorType.IMU or "orientation" in groups,
    )
