"""SRDF files of MoveIt: disabled collisions, and named states as keyframes."""

import logging
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import mujoco

from mujoco_ros.model.robot.scope import SCALAR_JOINTS
from mujoco_ros.model.scene.joint_options import add_keyframe
from mujoco_ros.model.urdf.importing.markup import attribute, name_of, number, parse_robot

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupState:
    """Positions of the joints of a planning group, by joint [rad or m]."""

    name: str
    group: str
    positions: dict[str, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Srdf:
    """The content of an SRDF file that concerns a simulation."""

    path: Path
    disabled: tuple[tuple[str, str], ...]  # pairs of links whose collisions are disabled
    default_disabled: tuple[str, ...]  # links that collide only with the links of `enabled`
    enabled: tuple[tuple[str, str], ...]  # pairs of links whose collisions are enabled again
    states: tuple[GroupState, ...]


def read_srdf(path: Path, text: str | None = None) -> Srdf:
    """Read an SRDF file, or `text` in its place."""
    robot = parse_robot(path, text)
    where = str(path)
    single = robot.findall("disable_default_collisions")
    return Srdf(
        path=path,
        disabled=tuple(_pairs(robot, "disable_collisions", where)),
        default_disabled=tuple(attribute(element, "link", where) for element in single),
        enabled=tuple(_pairs(robot, "enable_collisions", where)),
        states=tuple(_state(element, where) for element in robot.findall("group_state")),
    )


def disabled_pairs(srdf: Srdf, links: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of links that do not collide; a warning names unknown links."""
    enabled = {frozenset(pair) for pair in srdf.enabled}
    pairs = list(srdf.disabled)
    for link in srdf.default_disabled:
        pairs += [
            (link, other) for other in links if other != link and {link, other} not in enabled
        ]
    missing = sorted({name for pair in pairs for name in pair}.difference(links))
    if missing:
        _LOGGER.warning("%s: the robot has no link: %s", srdf.path, ", ".join(missing))
    return [pair for pair in pairs if not set(pair).intersection(missing)]


def add_keyframes(spec: mujoco.MjSpec, srdf: Srdf) -> None:
    """Add the named states as keyframes; the joints that a state does not name are at their zero.

    States of the same name in several groups, such as ``home`` of an arm and of its hand, are one
    keyframe. States are left out if the model has a keyframe of the name, or groups contradict each
    other.
    """
    keyframes = {key.name for key in spec.keys}
    merged: dict[str, dict[str, float]] = {}
    skipped: list[str] = []
    for state in srdf.states:
        positions = merged.setdefault(state.name, {})
        differs = any(positions.get(joint, q) != q for joint, q in state.positions.items())
        if state.name in keyframes or differs:
            skipped.append(f"{state.name} of {state.group}")
        else:
            positions.update(state.positions)
    joints = {joint.name for joint in spec.joints if int(joint.type) in SCALAR_JOINTS}
    missing = sorted(
        {joint for positions in merged.values() for joint in positions}.difference(joints)
    )
    if missing:
        _LOGGER.warning("%s: the robot has no joint: %s", srdf.path, ", ".join(missing))
    if skipped:
        _LOGGER.warning("%s: states that are left out: %s", srdf.path, ", ".join(skipped))
    for name, positions in merged.items():
        if name in keyframes:
            continue
        add_keyframe(spec, name, positions)


def _pairs(robot: ET.Element, tag: str, where: str) -> Iterator[tuple[str, str]]:
    for element in robot.findall(tag):
        yield attribute(element, "link1", where), attribute(element, "link2", where)


def _state(element: ET.Element, where: str) -> GroupState:
    name = name_of(element, where)
    inside = f"{where}: state '{name}'"
    return GroupState(
        name=name,
        group=attribute(element, "group", inside),
        positions={
            name_of(joint, inside): number(joint, "value", f"{inside}: joint '{joint.get('name')}'")
            for joint in element.findall("joint")
            # A joint with several axes moves a base, whose pose the scene decides.
            if len(joint.get("value", "").split()) < 2
        },
    )
