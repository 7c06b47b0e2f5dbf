"""The ``<ros2_control>`` blocks of a URDF, by which a genuine controller_manager drives the robot.

The hardware is joint_state_topic_hardware_interface, which speaks sensor_msgs/JointState both ways.
"""

import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass

from mujoco_ros.model.urdf.importing.markup import number

PLUGIN = "joint_state_topic_hardware_interface/JointStateTopicSystem"
INTERFACES = ("position", "velocity", "effort")
"""What a joint can be commanded with and what is sensed of it, in the order of the blocks."""

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class HardwareJoint:
    """A joint as ros2_control is to see it.

    Attributes:
        name: As in the URDF and in joint_states.
        takes: Quantities it can be commanded with, of `INTERFACES`; none for a passive joint.
        position: Where it is before the first joint_states arrive [rad or m].
    """

    name: str
    takes: frozenset[str]
    position: float


def write_ros2_control(
    robot: ET.Element, joints: Iterable[HardwareJoint], *, commands_topic: str, states_topic: str
) -> None:
    """Write the blocks for `joints` into a URDF; those that are there already are replaced.

    There is one block, that is one hardware component, for all joints that take the same
    quantities: its commands carry an array for each quantity with a number for each of its joints.

    Args:
        robot: The ``<robot>`` element, which is changed.
        joints: The simulated joints; those the URDF does not have are left out, with a warning.
        commands_topic: Resolved name of the topic the simulator takes commands from.
        states_topic: Resolved name of the topic it publishes joint states on.

    Raises:
        ModelError: A limit of a joint in the URDF is no number.
    """
    _remove_blocks(robot)
    described = {
        joint.get("name"): joint
        for joint in robot.findall("joint")
        if joint.get("type") not in ("fixed", "floating", "planar")
    }
    groups: dict[frozenset[str], list[HardwareJoint]] = {}
    missing = []
    for joint in joints:
        if joint.name in described:
            groups.setdefault(joint.takes, []).append(joint)
        else:
            missing.append(joint.name)
    if missing:
        _LOGGER.warning(
            "ros2_control cannot drive %s: the URDF has no such movable joint", ", ".join(missing)
        )
    topics = {"joint_commands_topic": commands_topic, "joint_states_topic": states_topic}
    for takes, members in groups.items():
        block = _block(takes, topics)
        block.extend([_joint(joint, described[joint.name]) for joint in members])
        robot.append(block)
    ET.indent(robot)


def _remove_blocks(robot: ET.Element) -> None:
    for block in robot.findall("ros2_control"):
        plugin = block.findtext("hardware/plugin", "").strip()
        _LOGGER.info(
            "the <ros2_control> block '%s' of the URDF (%s) gives way to one for the simulator",
            block.get("name", ""),
            plugin,
        )
        robot.remove(block)


def _block(takes: frozenset[str], topics: dict[str, str]) -> ET.Element:
    kinds = [interface for interface in INTERFACES if interface in takes]
    block = ET.Element("ros2_control", name="_".join([*(kinds or ["passive"]), "joints"]))
    # The plugin is a system, also where there is nothing but states.
    block.set("type", "system")
    hardware = ET.SubElement(block, "hardware")
    ET.SubElement(hardware, "plugin").text = PLUGIN
    parameters = dict(topics)
    if kinds:
        # Below its threshold the plugin falls silent, which a command_timeout would take for the
        # end of the stream; before 1.1 it heeds positions alone. Negative: it always speaks.
        parameters["trigger_joint_command_threshold"] = "-1"
    for name, value in parameters.items():
        ET.SubElement(hardware, "param", name=name).text = value
    return block


def _joint(joint: HardwareJoint, described: ET.Element) -> ET.Element:
    element = ET.Element("joint", name=joint.name)
    if described.find("mimic") is not None:
        # Simulated, not computed from the joint it follows, which may be in another block.
        element.set("mimic", "false")
    if joint.takes and _has_zero_limit(described):
        ET.SubElement(element, "limits", enable="false")
    for interface in INTERFACES:
        if interface in joint.takes:
            ET.SubElement(element, "command_interface", name=interface)
    # All three, because the plugin throws on an array of joint_states it has no interface for.
    for interface in INTERFACES:
        state = ET.SubElement(element, "state_interface", name=interface)
        if interface == "position":
            ET.SubElement(state, "param", name="initial_value").text = repr(joint.position)
    return element


def _has_zero_limit(described: ET.Element) -> bool:
    """Whether the controller_manager would let the joint not move, or not push, at all.

    In a URDF 0 often stands for an unknown limit. The simulator has limits of its own.
    """
    limit = described.find("limit")
    where = f"joint '{described.get('name')}'"
    return limit is not None and any(
        number(limit, attribute, where, default=1.0) == 0 for attribute in ("velocity", "effort")
    )
