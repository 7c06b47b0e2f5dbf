"""``<ros2_control>`` blocks: command interfaces, start positions, mimics and sensors."""

import xml.etree.ElementTree as ET
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from mujoco_ros.model.urdf.importing.hardware.sensors import SensorRequest, SensorType
from mujoco_ros.model.urdf.importing.hardware.usage import Usage, is_plausible
from mujoco_ros.model.urdf.importing.urdf_file import UrdfMimic

_INTERFACES = ("position", "velocity", "effort")
_MEASURED = {
    SensorType.IMU: ("angular_velocity", "linear_acceleration", "orientation"),
    SensorType.FORCE_TORQUE: ("force", "torque"),
}
"""Groups of state interfaces ``<group>.<axis>`` that a sensor can have."""
_FRAME_PARAMETERS = ("frame_id", "frame", "link")


@dataclass(kw_only=True, slots=True)
class ControlledHardware:
    """The content of all blocks of a URDF.

    Attributes:
        interfaces: Command interfaces by joint; empty for a joint that is only measured.
        initial: Start positions by joint [rad or m].
        mimics: Mimics by joint.
        sensors: Sensors, without their links.
        transmissions: Transmissions inside of blocks.
    """

    interfaces: dict[str, frozenset[str]] = field(default_factory=dict)
    initial: dict[str, float] = field(default_factory=dict)
    mimics: dict[str, UrdfMimic] = field(default_factory=dict)
    sensors: list[SensorRequest] = field(default_factory=list)
    transmissions: list[ET.Element] = field(default_factory=list)


def read_ros2_control(
    blocks: Iterable[ET.Element], joints: Container[str], usage: Usage
) -> ControlledHardware:
    """Read the blocks of a URDF with some movable joints."""
    found = ControlledHardware()
    for block in blocks:
        for hardware in block.findall("hardware"):
            usage.use_all(hardware)  # its plugin is replaced by the simulator
        found.transmissions += block.findall("transmission")
        for joint in block.findall("joint"):
            name = joint.get("name", "").strip()
            if name in joints:
                _read_joint(joint, name, joints, found, usage)
            else:
                usage.reject(joint, f"the robot has no movable joint '{name}'")
        found.sensors += [
            request for it in block.findall("sensor") if (request := _sensor(it, usage))
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
        return None
    frame = next((it for key in _FRAME_PARAMETERS if (it := usage.parameter(element, key))), "")
    return SensorRequest(
        element=element,
        name=element.get("name", "").strip(),
        type=kind,
        link=frame,
        used=tuple(it for group in _MEASURED[kind] for it in groups.get(group, ())),
        has_orientation=kind is not SensorType.IMU or "orientation" in groups,
    )
