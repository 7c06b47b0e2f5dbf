"""Reads <ros2_control> blocks by the rules of hardware_interface's component parser."""

from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class BlockJoint:
    name: str
    commands: tuple[str, ...]
    states: dict[str, str]
    """Each state interface and its initial value, empty if it has none."""
    limited: bool


@dataclass(frozen=True)
class Block:
    """One hardware component."""

    name: str
    plugin: str
    parameters: dict[str, str]
    joints: tuple[BlockJoint, ...]


def read_blocks(urdf: str) -> list[Block]:
    """Return the blocks of a URDF; errors of the parser are a ValueError."""
    robot = ElementTree.fromstring(urdf)
    described = {joint.get("name"): joint for joint in robot.findall("joint")}
    blocks = [_block(element) for element in robot.findall("ros2_control")]
    if not blocks:
        raise ValueError("no 'ros2_control' tag found in the URDF")
    names = [block.name for block in blocks]
    if len(set(names)) < len(names):
        raise ValueError(f"two components of one name: {names}")
    for element in robot.iterfind("ros2_control/joint"):
        name, commands = element.get("name"), element.findall("command_interface")
        if name not in described:
            raise ValueError(f"Joint '{name}' not found in URDF")
        if described[name].get("type") == "fixed":
            raise ValueError(f"Joint '{name}' is of type 'fixed'")
        if described[name].find("mimic") is not None and element.get("mimic") != "false":
            if commands:
                raise ValueError(f"mimic joint '{name}' has command interfaces")
            raise ValueError(f"mimic joint '{name}' is computed, not that of the simulator")
    return blocks


def _block(element: ElementTree.Element) -> Block:
    allowed = {"hardware", "joint"}
    strange = {child.tag for child in element} - allowed
    if strange or element.get("type") != "system":
        raise ValueError(f"not a system of joints: {strange or element.get('type')}")
    return Block(
        name=element.attrib["name"],
        plugin=element.findtext("hardware/plugin", ""),
        parameters={p.attrib["name"]: p.text or "" for p in element.iterfind("hardware/param")},
        joints=tuple(_joint(joint) for joint in element.iterfind("joint")),
    )


def _joint(element: ElementTree.Element) -> BlockJoint:
    limits = element.find("limits")
    return BlockJoint(
        name=element.attrib["name"],
        commands=tuple(i.attrib["name"] for i in element.iterfind("command_interface")),
        states={
            i.attrib["name"]: i.findtext("param[@name='initial_value']", "")
            for i in element.iterfind("state_interface")
        },
        limited=limits is None or limits.get("enable") != "false",
    )
