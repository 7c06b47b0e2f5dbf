"""Making what is to be spawned part of a scene, in the thread that builds the next model."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from simulation_interfaces.srv import SpawnEntity

from mujoco_ros.bridge.simulation_interfaces.entities.resources import ResourceSource, refusal
from mujoco_ros.bridge.simulation_interfaces.rejection import RequestRejectedError, failed
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
"""Has the codes with which the spawning of one entity can be refused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SpawnRequest:
    """One entity that somebody wants.

    Attributes:
        name: What to call it; empty for what its model calls itself.
        renames: Whether another name will do if that one is taken.
        source: Its model.
        namespace: Of its topics; None for its name.
        frame: The frame its pose is seen from.
        pose: Position and quaternion wxyz.  # (7,)
    """

    name: str
    renames: bool
    source: ResourceSource
    namespace: str | None
    frame: str
    pose: np.ndarray


Outcome = str | RequestRejectedError
"""The name of an entity that was spawned, or why it was not."""


class EmptySpawnError(Exception):
    """None of the entities can be added; each has its own reason."""


def add_all(
    assembly: Assembly,
    wishes: Sequence[SpawnRequest],
    taken: frozenset[str],
    outcomes: list[Outcome],
) -> Assembly:
    """Add what is wished for, as much of it as possible, and append to `outcomes` what came of it.

    Raises:
        NothingError: Nothing could be added.
    """
    parts: dict[int, Part] = {}
    for index, wish in enumerate(wishes):
        names = taken | {part.name for part in parts.values()}
        try:
            parts[index] = _read(wish, names)
        except UserInputError as error:
            outcomes.append(refusal(error, CODES, otherwise="RESOURCE_PARSE_ERROR"))
        else:
            outcomes.append(parts[index].name)
    added = _rebuild(assembly, parts, outcomes)
    if added is assembly:
        raise EmptySpawnError
    return added


def _rebuild(assembly: Assembly, parts: dict[int, Part], outcomes: list[Outcome]) -> Assembly:
    """Add all parts at once, or else one by one, to find the ones that cannot be."""
    if not parts:
        return assembly
    try:
        return rebuild(assembly, add=parts.values())
    except UserInputError as error:
        if len(parts) == 1:
            (index,) = parts
            # Not the format of the part: it was read. The world is compiled, and takes no part.
            world = isinstance(error, UnsupportedFormatError)
            outcomes[index] = failed(str(error)) if world else refusal(error, CODES)
            return assembly
    for index, part in parts.items():
        assembly = _rebuild(assembly, {index: part}, outcomes)
    return assembly


def _read(wish: SpawnRequest, taken: frozenset[str]) -> Part:
    """Read the model of an entity."""
    pose = PoseConfig(
        xyz=_numbers(wish.pose[:3]), quaternion_xyzw=_numbers(wish.pose[[4, 5, 6, 3]])
    )
    if not wish.source.uri:
        name = _name(wish, root_element(wish.source.text)[1], taken)
        return part_from_text(wish.source.text, name=name, pose=pose, namespace=wish.namespace)
    path = wish.source.path()
    if not path.is_file():
        raise MissingFileError(f"there is no file '{path}'")
    name = _name(wish, _own_name(path), taken)
    part = part_from_file(path, name=name, pose=pose, namespace=wish.namespace)
    return _with_settings(part, path)


def _with_settings(part: Part, path: Path) -> Part:
    """Give a robot the gains file beside its model, and what a shipped scene says of it."""
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
    """Whether a gains file is for a robot; there may be several models in one folder."""
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
    """Return what the model in a file calls itself, or else the file's name."""
    if path.suffix == ".mjb":  # will be refused, with the reason
        return to_name(path.stem)
    return root_element(read_text(path))[1] or to_name(path.stem)


def _name(wish: SpawnRequest, own: str, taken: frozenset[str]) -> str:
    name = wish.name or own or ("entity" if wish.renames else "")
    if not name:
        raise NameInvalidError(
            "neither the request nor the model gives a name; give one, or set allow_renaming"
        )
    if name not in taken:
        return name
    if wish.renames:
        return unique_name(name, taken)
    raise NameTakenError(f"'{name}' is the name of something else here; allow_renaming would help")


def _numbers(values: np.ndarray) -> tuple[Any, ...]:
    return tuple(float(value) for value in values)
