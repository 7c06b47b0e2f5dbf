"""The parts of a scene: robots and objects, each read once and kept for later merging."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import mujoco

from mujoco_ros.model.errors import (
    MissingAssetError,
    ParseError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.scene.asset_snapshot import AssetFile, keep_files, named_files
from mujoco_ros.model.scene.config import (
    MODEL_SUFFIXES,
    NOWHERE,
    ObjectConfig,
    RobotConfig,
    SceneConfig,
)
from mujoco_ros.model.scene.pose_config import PoseConfig
from mujoco_ros.model.scene.size_limits import check_spec, check_text
from mujoco_ros.model.sensors.cameras import edit_cameras
from mujoco_ros.model.sensors.lidars import edit_lidars
from mujoco_ros.model.urdf.importing.importer import free_base, load_urdf
from mujoco_ros.model.uri import check_file

_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_INCLUDE = re.compile(r"<\s*include\b")
_FIRST_TAG = re.compile(r"<\s*([A-Za-z_][\w.-]*)")
_NOT_CONTENT = re.compile(r"<\?.*?\?>|<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """A robot or object of a scene; the very same one as long as it is this object.

    Attributes:
        config: What the scene says of it.
        spec: Its own model, which is only ever copied from.
        prefix: What its names carry in the merged model: ``<name>/``, or nothing if the scene is
            just this model.
        files: The files that its model names, as they were read.
        urdf: The URDF it was made from, if that was given as text and not as a file.
    """

    config: RobotConfig | ObjectConfig
    spec: mujoco.MjSpec | None
    prefix: str
    files: tuple[AssetFile, ...] = ()
    urdf: str | None = None

    @property
    def name(self) -> str:
        """Return its name."""
        return self.config.name


def robot_part(config: SceneConfig, robot: RobotConfig, *, prefix: str) -> Part:
    """Read a robot that a scene names.

    Raises:
        ModelError: Its file is missing or wrong, or has not the base that is asked for.
    """
    path = config.path(robot.model)
    spec = load_spec(path, f"robot '{robot.name}'")
    if robot.base == "free":
        try:
            free_base(spec)
        except UserInputError as error:
            raise UserInputError(f"robot '{robot.name}': {error}") from error
    elif robot.base == "fixed" and any(j.type == mujoco.mjtJoint.mjJNT_FREE for j in spec.joints):
        raise UserInputError(f"robot '{robot.name}': 'base: fixed', but '{path}' has a free joint")
    edit_cameras(spec, robot.cameras, f"robot '{robot.name}'")
    edit_lidars(spec, robot.lidars, f"robot '{robot.name}'")
    return Part(config=robot, spec=spec, prefix=prefix, files=keep_files(spec, path.parent))


def object_part(config: SceneConfig, entity: ObjectConfig) -> Part:
    """Read an object that a scene names.

    Raises:
        ModelError: Its file is missing or wrong.
    """
    path = config.path(entity.model)
    spec = load_spec(path, f"object '{entity.name}'")
    files = keep_files(spec, path.parent)
    return Part(config=entity, spec=spec, prefix=f"{entity.name}/", files=files)


def part_from_file(
    path: Path,
    *,
    name: str,
    pose: PoseConfig | None = None,
    namespace: str | None = None,
    gains: str | None = None,
) -> Part:
    """Read a model that nobody has called robot or object: what has scalar joints is a robot.

    Args:
        path: An MJCF or URDF file.
        name: What to call it in the scene.
        pose: Where it stands in the world; None is the origin.
        namespace: Of its topics, if it is a robot; None is its name.
        gains: Its gains file, if it is a robot.

    Raises:
        ModelError: The file is missing (`MissingFileError`), of an unknown kind
            (`UnsupportedFormatError`), wrong (`ParseError`) or lacks a mesh (`MissingAssetError`),
            or the name is no valid one (`NameInvalidError`).
    """
    spec = load_spec(path, f"'{name}'")
    config = _config(spec, str(path), name, pose, namespace, gains)
    files = keep_files(spec, path.parent)
    return Part(config=config, spec=spec, prefix=f"{name}/", files=files)


def part_from_text(
    text: str,
    *,
    name: str,
    folder: Path | None = None,
    pose: PoseConfig | None = None,
    namespace: str | None = None,
    gains: str | None = None,
) -> Part:
    """Make a part of an MJCF or URDF that is given as text, as `part_from_file` does of a file.

    Args:
        text: The XML; its first element tells MJCF (``<mujoco>``) from URDF (``<robot>``).
        name: What to call it in the scene.
        folder: Where relative paths in the text start; None refuses them.
        pose: Where it stands in the world; None is the origin.
        namespace: Of its topics, if it is a robot; None is its name.
        gains: Its gains file, if it is a robot.

    Raises:
        ModelError: As from `part_from_file`.
    """
    found = _FIRST_TAG.search(_NOT_CONTENT.sub("", text))
    kind = found.group(1) if found else ""
    if kind == "mujoco":
        spec, urdf = _mjcf_text(text, f"the text of '{name}'", folder), None
    elif kind == "robot":
        spec, urdf = load_urdf((folder or NOWHERE) / f"{name}.urdf", text), text
    else:
        begins = f"begins with <{kind}>" if kind else "is no XML"
        raise UnsupportedFormatError(
            f"the text of '{name}' {begins}; MJCF begins with <mujoco>, and URDF with <robot>"
        )
    config = _config(spec, "", name, pose, namespace, gains)
    files = keep_files(spec, folder or NOWHERE)
    return Part(config=config, spec=spec, prefix=f"{name}/", files=files, urdf=urdf)


def load_spec(path: Path, what: str) -> mujoco.MjSpec:
    """Read an MJCF or URDF file.

    Args:
        path: The file.
        what: What it is the model of, put in front of messages.

    Raises:
        ModelError: The file is missing, of another kind, or wrong.
    """
    if path.suffix == ".mjb":
        raise UnsupportedFormatError(
            f"{what}: '{path}' is a compiled model, which can only run alone; "
            "name its MJCF or URDF to merge it with others"
        )
    if path.suffix not in MODEL_SUFFIXES:
        raise UnsupportedFormatError(
            f"{what}: '{path}' is no model; known are {', '.join(MODEL_SUFFIXES)}"
        )
    check_file(path, f"{what}: model file")
    if path.suffix == ".urdf":
        return load_urdf(path)
    with suppress(OSError):  # the engine says what it is
        check_text(_NOT_CONTENT.sub("", path.read_text(errors="replace")), str(path))
    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise engine_error(str(path), error) from error
    check_spec(spec, str(path))
    _name_the_nameless(spec)
    return spec


def engine_error(where: str, error: Exception) -> UserInputError:
    """Return the error for what MuJoCo's parser or compiler found wrong."""
    message = " ".join(str(error).split())
    kind = MissingAssetError if "Error opening file" in message else ParseError
    return kind(f"{where}: {message}")


def _mjcf_text(text: str, where: str, folder: Path | None) -> mujoco.MjSpec:
    content = _NOT_CONTENT.sub("", text)
    if _INCLUDE.search(content):
        raise ParseError(f"{where} includes a file, which only a file can")
    check_text(content, where)
    try:
        spec = mujoco.MjSpec.from_string(text)
    except (ValueError, mujoco.FatalError) as error:
        raise engine_error(where, error) from error
    check_spec(spec, where)
    if folder is None:
        _check_paths(spec, where)
    else:
        spec.modelfiledir = str(folder)
    _name_the_nameless(spec)
    return spec


def _check_paths(spec: mujoco.MjSpec, where: str) -> None:
    """Refuse files given relative to a folder that is not known."""
    for named in named_files(spec):
        if not named.path.is_absolute():
            raise MissingAssetError(
                f"{where}: {named.kind} '{named.asset}' is the file '{named.path}', but a text has "
                "no folder to find it in; give its whole path"
            )


def _config(
    spec: mujoco.MjSpec,
    model: str,
    name: str,
    pose: PoseConfig | None,
    namespace: str | None,
    gains: str | None,
) -> RobotConfig | ObjectConfig:
    pose = pose or PoseConfig()
    if any(joint.type in _SCALAR for joint in spec.joints):
        return RobotConfig(name=name, model=model, pose=pose, namespace=namespace, gains=gains)
    return ObjectConfig(name=name, model=model, pose=pose)


def _name_the_nameless(spec: mujoco.MjSpec) -> None:
    """Name what ROS will speak of, and what has no other place to be known by."""
    for kind, elements in (
        ("body", spec.bodies[1:]),
        ("joint", spec.joints),
        ("actuator", spec.actuators),
        ("sensor", spec.sensors),
        ("camera", spec.cameras),
        ("equality", spec.equalities),
        ("tendon", spec.tendons),
    ):
        taken = {element.name for element in elements}
        for index, element in enumerate(elements):
            if not element.name:
                name = f"{kind}{index}"
                element.name = name if name not in taken else f"unnamed_{name}"
