"""``<transmission>`` elements: the inertia of rotors, and the kind of command."""

import xml.etree.ElementTree as ET
from collections.abc import Container, Iterable
from dataclasses import dataclass
from math import prod

from mujoco_ros.model.urdf.importing.hardware.usage import Usage, is_plausible

_ROTOR_INERTIA = ("rotorInertia", "rotor_inertia", "motorInertia", "motor_inertia")
_REDUCTION = ("mechanicalReduction", "mechanical_reduction", "gear_ratio")
_INTERFACES = {"Position": "position", "Velocity": "velocity", "Effort": "effort"}
"""Command interfaces by the first word of ROS 1's, as in ``VelocityJointInterface``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JointTransmission:
    """The transmission of a joint.

    Attributes:
        interfaces: Command interfaces, empty if none is named.
        armature: Inertia of the rotors at the joint [kg m² or kg]; None if none is named.
    """

    interfaces: frozenset[str] = frozenset()
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
            named = {it.get("name", "") for it in element.iter() if it.tag.endswith("Joint")}
            found |= {it: JointTransmission() for it in named if it in joints and it not in found}
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
        of_actuators = set().union(*(_interfaces(it, usage) for it in element.iterfind("actuator")))
        for joint in of_joints:
            usage.use(joint)
            name = joint.get("name", "").strip()
            before = found.get(name, JointTransmission())
            armatures = [it for it in (before.armature, armature) if it is not None]
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
        for word, name in _INTERFACES.items():
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
