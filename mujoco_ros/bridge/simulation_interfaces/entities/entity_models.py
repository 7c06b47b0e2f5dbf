"""The models of entities to spawn; used without ROS in the process of trial builds."""

import logging
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.gains import load_gains
from mujoco_ros.model.errors import (
    MissingFileError,
    NameInvalidError,
    NameTakenError,
    UserInputError,
)
from mujoco_ros.model.naming import root_element, to_name, unique_name
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.robot.scope import SCALAR_JOINTS
from mujoco_ros.model.scene.assembly import Assembly, assemble, rebuild
from mujoco_ros.model.scene.config import (
    RobotConfig,
    SceneConfig,
    model_arguments,
    split_arguments,
)
from mujoco_ros.model.scene.parts import ScenePart, load_spec, part_from_file, part_from_text
from mujoco_ros.model.scene.worlds import shipped_settings
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.uri import resolve
from mujoco_ros.sim.observer import BoundingBox, Observer

_LOG = logging.getLogger(__name__)
_MOTOR = (
    mujoco.mjtTrn.mjTRN_JOINT,
    mujoco.mjtGain.mjGAIN_FIXED,
    mujoco.mjtBias.mjBIAS_NONE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ResourceSource:
    """The URI of a description, or else its text."""

    uri: str  # may end with the arguments of `model_arguments`, such as `` base:=fixed``
    text: str

    @property
    def keys(self) -> dict[str, Any]:
        """Return the keys of a robot that its arguments are."""
        return model_arguments(split_arguments(self.uri)[1])

    def path(self) -> Path:
        """Return the file, or raise `MissingFileError`: the URI is relative, or no file here."""
        if "://" not in self.uri and not self.uri.startswith(("/", "~")):
            raise MissingFileError(
                f"'{self.uri}' is a relative path; give file:///<path>, "
                "package://<package>/<path> or an absolute path"
            )
        try:
            return resolve(split_arguments(self.uri)[0], Path("/"))
        except UserInputError as error:
            raise MissingFileError(str(error)) from error


@dataclass(frozen=True, kw_only=True, slots=True)
class SpawnRequest:
    """A request to spawn one entity."""

    name: str  # its name; empty for the name in its model
    allow_renaming: bool  # whether to use another name if that one is taken
    source: ResourceSource
    namespace: str | None  # namespace of its topics; None for its name
    frame: str  # the frame of its pose
    pose: np.ndarray  # position [m] and quaternion wxyz (7,)

    @property
    def label(self) -> str:
        """How error messages call it."""
        return f"'{self.name or self.source.uri or 'entity'}'"

    @property
    def in_world(self) -> bool:
        """Whether its pose is in the world."""
        return self.frame in ("", "world")


def build_alone(spawn: SpawnRequest, taken: frozenset[str], scene: str) -> None:
    """Read the model of an entity, and add it to an empty world."""
    rebuild(empty_world(scene), add=[read_entity(spawn, taken)])


@lru_cache(maxsize=1)
def empty_world(scene: str = "") -> Assembly:
    """Return a world without anything, by the name of its scene."""
    return assemble(SceneConfig(name=scene))


def initial_box(path: Path) -> BoundingBox | None:
    """Return the box around a model in its initial state, in its own frame, as `Observer.box`."""
    try:
        model = load_spec(path, "").compile()
    except (ValueError, mujoco.FatalError) as error:
        raise UserInputError(str(error)) from error
    data, observer = mujoco.MjData(model), Observer(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    observer.set(observer.read(data))
    return observer.box(range(model.ngeom))


def read_entity(spawn: SpawnRequest, taken: frozenset[str]) -> ScenePart:
    """Read the model of an entity, and give it a name that is not taken."""
    x, y, z, qw, qx, qy, qz = spawn.pose.tolist()
    pose = PoseConfig(xyz=(x, y, z), quaternion_xyzw=(qx, qy, qz, qw))
    if not spawn.source.uri:
        name = _name(spawn, root_element(spawn.source.text)[1], taken)
        return part_from_text(spawn.source.text, name=name, pose=pose, namespace=spawn.namespace)
    path = spawn.source.path()
    if not path.is_file():
        raise MissingFileError(f"there is no file '{path}'")
    name = _name(spawn, _own_name(path), taken)
    part = part_from_file(
        path, name=name, pose=pose, namespace=spawn.namespace, keys=spawn.source.keys
    )
    return _with_settings(part, path)


def _with_settings(part: ScenePart, path: Path) -> ScenePart:
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


def _fit(gains: Path, part: ScenePart) -> bool:
    """Return whether a gains file fits a robot; there may be several models in one folder."""
    if part.spec is None:
        return False
    joints = tuple(joint.name for joint in part.spec.joints if joint.type in SCALAR_JOINTS)
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
