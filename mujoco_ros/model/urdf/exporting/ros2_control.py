"""The ``<ros2_control>`` blocks of a URDF, for a controller_manager beside the simulator.

The hardware is joint_state_topic_hardware_interface, whose states and commands are
sensor_msgs/JointState.
"""

import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import dataclass

from mujoco_ros.model.urdf.importing.markup import number

PLUGIN = "joint_state_topic_hardware_interface/JointStateTopicSystem"
INTERFACES = ("position", "velocity", "effort")
"""Command and state interfaces of a joint, in the order of the blocks."""

_NEAR_LIMIT = 1e-4
"""Distance from a limit that a position may exceed, as limits are soft [rad or m]."""
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class HardwareJoint:
    """A joint of the hardware."""

    name: str  # name in the URDF and in joint_states
    takes: frozenset[str]  # its command interfaces; none for a passive joint
    position: float  # position before the first joint_states [rad or m]


def write_ros2_control(
    robot: ET.Element, joints: Iterable[HardwareJoint], *, commands_topic: str, states_topic: str
) -> None:
    """Replace the blocks in a URDF; joints that it lacks are left out, with a warning.

    Joints with the same command interfaces share a block, that is a hardware component, because its
    commands have a number for each of its joints and interfaces. The topics are resolved names.
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
            "ros2_control cannot drive %s: the URDF lacks these movable joints", ", ".join(missing)
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
            "the <ros2_control> block '%s' of the URDF (%s) is replaced by one for the simulator",
            block.get("name", ""),
            plugin,
        )
        robot.remove(block)


def _block(takes: frozenset[str], topics: dict[str, str]) -> ET.Element:
    kinds = [interface for interface in INTERFACES if interface in takes]
    block = ET.Element("ros2_control", name="_".join([*(kinds or ["passive"]), "joints"]))
    # The plugin is a system, even with states only.
    block.set("type", "system")
    hardware = ET.SubElement(block, "hardware")
    ET.SubElement(hardware, "plugin").text = PLUGIN
    parameters = dict(topics)
    if kinds:
        # Below its threshold the plugin publishes nothing, which is the end of a stream for a
        # command_timeout; before 1.1 it regards positions only. Negative: it always publishes.
        parameters["trigger_joint_command_threshold"] = "-1"
    for name, value in parameters.items():
        ET.SubElement(hardware, "param", name=name).text = value
    return block


def _joint(joint: HardwareJoint, described: ET.Element) -> ET.Element:
    element = ET.Element("joint", name=joint.name)
    if described.find("mimic") is not None:
        # The joint is simulated; the joint that it mimics may be in another block.
        element.set("mimic", "false")
    if joint.takes and (_has_zero_limit(described) or _starts_at_limit(described, joint.position)):
        ET.SubElement(element, "limits", enable="false")
    for interface in INTERFACES:
        if interface in joint.takes:
            ET.SubElement(element, "command_interface", name=interface)
    # All three, because the plugin throws on an array of joint_states without an interface.
    for interface in INTERFACES:
        state = ET.SubElement(element, "state_interface", name=interface)
        if interface == "position":
            ET.SubElement(state, "param", name="initial_value").text = repr(joint.position)
    return element


def _has_zero_limit(described: ET.Element) -> bool:
    """Whether a limit is 0, often for unknown; controller_manager would stop the joint."""
    limit = described.find("limit")
    where = f"joint '{described.get('name')}'"
    return limit is not None and any(
        number(limit, attribute, where, default=1.0) == 0 for attribute in ("velocity", "effort")
    )


def _starts_at_limit(described: ET.Element, position: float) -> bool:
    """Whether a joint starts at a limit, which it exceeds by a rounding error when it is held.

    controller_manager would report each command that holds it as an error.
    """
    limit, where = described.find("limit"), f"joint '{described.get('name')}'"
    if limit is None or described.get("type") == "continuous":
        return False
    lower, upper = (number(limit, end, where, default=0.0) for end in ("lower", "upper"))
    return min(abs(position - lower), abs(position - upper)) < _NEAR_LIMIT
