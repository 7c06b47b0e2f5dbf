"""Adds spawned entities to a scene, in the thread that builds the next model."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from simulation_interfaces.srv import SpawnEntity

from mujoco_ros.bridge.rclpy_ext.service import RequestRejectedError
from mujoco_ros.bridge.simulation_interfaces.entities.resources import ResourceSource, rejection
from mujoco_ros.control.gains import load_gains
from mujoco_ros.model.errors import (
    MissingFileError,
    NameInvalidError,
    NameTakenError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.naming import to_name, unique_name
from mujoco_ros.model.scene.assembly import Assembly, rebuild
from mujoco_ros.model.scene.config import RobotConfig
from mujoco_ros.model.scene.file_header import root_element
from mujoco_ros.model.scene.parts import Part, part_from_file, part_from_text
from mujoco_ros.model.scene.pose_config import PoseConfig
from mujoco_ros.model.scene.shipped import shipped_settings
from mujoco_ros.model.strict import read_text

_LOG = logging.getLogger(__name__)
_SCALAR = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
_MOTOR = (
    mujoco.mjtTrn.mjTRN_JOINT,
    mujoco.mjtGain.mjGAIN_FIXED,
    mujoco.mjtBias.mjBIAS_NONE,
)
CODES = SpawnEntity.Response
"""Has the result codes of spawning one entity."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SpawnRequest:
    """A request to spawn one entity.

    Attributes:
        name: Its name; empty for the name in its model.
        allow_renaming: Whether to use another name if that one is taken.
        source: Its model.
        namespace: Namespace of its topics; None for its name.
        frame: The frame of its pose.
        pose: Position [m] and quaternion wxyz.  # (7,)
    """

    name: str
    allow_renaming: bool
    source: ResourceSource
    namespace: str | None
    frame: str
    pose: np.ndarray

    @property
    def in_world(self) -> bool:
        """Whether its pose is in the world."""
        return self.frame in ("", "world")


SpawnOutcome = str | RequestRejectedError
"""The name of an entity that was spawned, or why it was not."""


class EmptySpawnError(Exception):
    """None of the entities can be added; each has its own reason."""


def add_all(
    assembly: Assembly,
    spawns: Sequence[SpawnRequest],
    taken: frozenset[str],
    outcomes: list[SpawnOutcome],
) -> Assembly:
    """Add all entities that can be added, and append an outcome for each to `outcomes`.

    Raises:
        EmptySpawnError: Nothing can be added.
    """
    parts: dict[int, Part] = {}
    for index, spawn in enumerate(spawns):
        names = taken | {part.name for part in parts.values()}
        try:
            parts[index] = _read(spawn, names)
        except UserInputError as error:
            outcomes.append(rejection(error, CODES, otherwise="RESOURCE_PARSE_ERROR"))
        else:
            outcomes.append(parts[index].name)
    added = _rebuild(assembly, parts, outcomes)
    if added is assembly:
        raise EmptySpawnError
    return added


def _rebuild(assembly: Assembly, parts: dict[int, Part], outcomes: list[SpawnOutcome]) -> Assembly:
    """Add all parts at once, or else one by one, to find those that cannot be added."""
    if not parts:
        return assembly
    try:
        return rebuild(assembly, add=parts.values())
    except UserInputError as error:
        if len(parts) == 1:
            (index,) = parts
            # Not the format of the part, which was read: nothing can be added to a compiled world.
            world = isinstance(error, UnsupportedFormatError)
            outcomes[index] = RequestRejectedError(str(error)) if world else rejection(error, CODES)
            return assembly
    for index, part in parts.items():
        assembly = _rebuild(assembly, {index: part}, outcomes)
    return assembly


def _read(spawn: SpawnRequest, taken: frozenset[str]) -> Part:
    """Read the model of an entity."""
    pose = PoseConfig(
        xyz=_numbers(spawn.pose[:3]), quaternion_xyzw=_numbers(spawn.pose[[4, 5, 6, 3]])
    )
    if not spawn.source.uri:
        name = _name(spawn, root_element(spawn.source.text)[1], taken)
        return part_from_text(spawn.source.text, name=name, pose=pose, namespace=spawn.namespace)
    path = spawn.source.path()
    if not path.is_file():
        raise MissingFileError(f"there is no file '{path}'")
    name = _name(spawn, _own_name(path), taken)
    part = part_from_file(path, name=name, pose=pose, namespace=spawn.namespace)
    return _with_settings(part, path)


def _with_settings(part: Part, path: Path) -> Part:
    """Add the gains file beside a robot's model, and the settings of a shipped scene."""
    robot = part.config
    if not isinstance(robot, RobotConfig):
        return part
    gains = path.parent / "gains.yaml"
    if gains.is_file() and _fit(gains, part):
        robot = replace(robot, gains=str(gains))
    known = shipped_settings(path)
    if known is not None:
        robot = replace(robot, keyframe=known.keyframe, gains=known.gains, gripper=known.gripper)
    return replace(part, config=robot)


def _fit(gains: Path, part: Part) -> bool:
    """Return whether a gains file fits a robot; there may be several models in one folder."""
    if part.spec is None:
        return False
    joints = tuple(joint.name for joint in part.spec.joints if joint.type in _SCALAR)
    driven = tuple(
        actuator.target
        for actuator in part.spec.actuators
        if (actuator.trntype, actuator.gaintype, actuator.biastype) == _MOTOR
    )
    try:
        load_gains(gains, joints, driven)
    except UserInputError as error:
        _LOG.info("not used for '%s': %s", part.name, error)
        return False
    return True


def _own_name(path: Path) -> str:
    """Return the name in a model file, or else the file's name."""
    if path.suffix == ".mjb":  # rejected later, with the reason
        return to_name(path.stem)
    return root_element(read_text(path))[1] or to_name(path.stem)


def _name(spawn: SpawnRequest, own: str, taken: frozenset[str]) -> str:
    name = spawn.name or own or ("entity" if spawn.allow_renaming else "")
    if not name:
        raise NameInvalidError(
            "neither the request nor the model gives a name; give one, or set allow_renaming"
        )
    if name not in taken:
        return name
    if spawn.allow_renaming:
        return unique_name(name, taken)
    raise NameTakenError(f"'{name}' is taken; set allow_renaming, or give another name")


def _numbers(values: np.ndarray) -> tuple[Any, ...]:
    return tuple(float(value) for value in values)
