"""The parts of a scene: robots and objects, read once and merged into each new model."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mujoco

from mujoco_ros.model.archives import archives_together
from mujoco_ros.model.errors import UnsupportedFormatError, UserInputError
from mujoco_ros.model.naming import root_element
from mujoco_ros.model.packages import package_directory
from mujoco_ros.model.pose import ORIGIN, PoseConfig
from mujoco_ros.model.reading import note_file
from mujoco_ros.model.robot.drive import NoDriveError, find_drive
from mujoco_ros.model.robot.rollers import add_rollers
from mujoco_ros.model.robot.scope import SCALAR_JOINTS
from mujoco_ros.model.scene import collisions, joint_options
from mujoco_ros.model.scene.asset_snapshot import AssetFile, snapshot_files
from mujoco_ros.model.scene.config import (
    MODEL_SUFFIXES,
    NO_FOLDER,
    ObjectConfig,
    RobotConfig,
    SceneConfig,
)
from mujoco_ros.model.scene.limits import check_characters, check_spec, kind_of
from mujoco_ros.model.scene.mjcf_files import read_mjcf, read_mjcf_text, without_comments
from mujoco_ros.model.sensors.cameras import edit_cameras
from mujoco_ros.model.sensors.lidars import edit_lidars
from mujoco_ros.model.urdf.importing.imported_urdf import ImportedUrdf, free_base
from mujoco_ros.model.urdf.importing.markup import XACRO_SUFFIX, is_xacro
from mujoco_ros.model.uri import check_file

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScenePart:
    """A robot or object of a scene, identified by the object itself."""

    config: RobotConfig | ObjectConfig
    spec: mujoco.MjSpec | None  # its model, which is copied and never changed
    prefix: str  # prefix of its names in the merged model: ``<name>/``, or empty if it is the scene
    files: tuple[AssetFile, ...] = ()  # snapshot of the files of its model
    urdf: str | None = None  # the URDF text of its model, if that is given as text or a xacro file
    described: str | None = None  # the text of its `urdf`, if that is a xacro file
    is_freed: bool = False  # whether its base is free by the content of its URDF

    @property
    def name(self) -> str:
        """Return the name of the robot or object."""
        return self.config.name


def robot_part(config: SceneConfig, robot: RobotConfig, *, prefix: str) -> ScenePart:
    """Read a robot of a scene."""
    path, where = config.path(robot.model), f"robot '{robot.name}'"
    urdf = _expanded(config, robot, path, "model file")
    if urdf is None:
        model = _load(path, where, config.package_folders)
    else:
        model = _import_urdf(path, urdf, config.package_folders)
    is_freed = _edit(model, robot, config, where, path) and robot.base == "auto"
    edit_cameras(model.spec, robot.cameras, where)
    edit_lidars(model.spec, robot.lidars, where)
    files = snapshot_files(model.spec, path.parent)
    robot = _with_sensors(robot, model)
    described = robot.urdf and _expanded(config, robot, config.path(robot.urdf), "URDF file")
    return ScenePart(
        config=robot,
        spec=model.spec,
        prefix=prefix,
        files=files,
        urdf=urdf,
        described=described,
        is_freed=is_freed,
    )


def _edit(
    model: ImportedUrdf, robot: RobotConfig, config: SceneConfig, where: str, path: Path
) -> bool:
    """Change the model of a robot by the options of a scene; return whether its base was freed."""
    spec, is_urdf = model.spec, path.suffix.lower() in (".urdf", XACRO_SUFFIX)
    is_freed = _edit_base(model, robot, where, path)
    has_rollers = _mount_rollers(model, robot)
    edits = (
        is_freed,
        has_rollers,
        robot.srdf,
        robot.joints,
        robot.convex_decomposition,
        robot.sdf,
        robot.exclude,
    )
    is_edited = robot.gravity_compensation or any(edits)
    compiled = None if is_edited else model.model
    joint_options.add_start(spec, model.start, where, compiled)
    if robot.srdf is not None:
        _apply_srdf(spec, config, robot, config.path(robot.srdf))
    start = joint_options.apply_joint_options(spec, robot.joints, where)
    if is_urdf:
        joint_options.start_within_limits(spec, where, start, compiled)
    joint_options.move_start(spec, start, robot.keyframe)
    joint_options.derive_velocity_gains(spec, model.velocity_servos, compiled)
    if robot.gravity_compensation:
        joint_options.compensate_gravity(spec, where)
    _shape_meshes(spec, robot, where)
    collisions.exclude_pairs(spec, robot.exclude, f"{where}: exclude")
    if robot.self_collision == "none":
        collisions.exclude_all(spec, where)
    elif robot.self_collision == "auto" and is_urdf:
        collisions.exclude_overlaps(spec, robot.keyframe, where, compiled)
    return is_freed


def _shape_meshes(spec: mujoco.MjSpec, config: RobotConfig | ObjectConfig, where: str) -> None:
    collisions.collide_by_distance(spec, config.sdf, where)
    collisions.decompose_meshes(spec, config.convex_decomposition, where)


def _edit_base(model: ImportedUrdf, robot: RobotConfig, where: str, path: Path) -> bool:
    """Free the base of a robot if it should be, and return whether that was done."""
    spec, base = model.spec, robot.base
    is_free = any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in spec.joints)
    if base == "auto" and model.base is not None and not is_free and spec.joints:
        freed, reason = model.base
        if robot.gravity_compensation:
            freed, reason = False, "its gravity is compensated"
        elif freed and not any(geom.contype or geom.conaffinity for geom in spec.geoms):
            freed, reason = False, "it has no collision shapes to stand on"
        kind, other = ("free", "fixed") if freed else ("fixed", "free")
        text = "%s: the base is %s, because %s; `base: %s` or '<file> base:=%s' changes that"
        _LOGGER.info(text, where, kind, reason, other, other)
        base = "free" if freed else base
    if base == "fixed" and is_free:
        raise UserInputError(f"{where}: 'base: fixed', but '{path}' has a free joint")
    if base != "free":
        return False
    try:
        free_base(spec)
    except UserInputError as error:
        if robot.base == "free":
            raise UserInputError(f"{where}: {error}") from error
        _LOGGER.warning("%s: the base stays fixed: %s", where, error)
        return False
    return True


def _mount_rollers(model: ImportedUrdf, robot: RobotConfig) -> bool:
    """Give wheels that move a robot in every direction rollers; return whether there are any."""
    everywhere = robot.drive == "omnidirectional" or (robot.drive == "auto" and model.is_holonomic)
    try:
        drive = find_drive(model.wheels, is_holonomic=everywhere)
    except NoDriveError:
        return False
    if drive.grips:
        add_rollers(model.spec, drive)
    return bool(drive.grips)


def _with_sensors(robot: RobotConfig, model: ImportedUrdf) -> RobotConfig:
    """Return a robot with what its URDF declares and a spec lacks, which the scene overrides."""
    cameras, lidars = ({sensor.name for sensor in own} for own in (robot.cameras, robot.lidars))
    drives_everywhere = model.is_holonomic and robot.drive == "auto"
    return replace(
        robot,
        drive="omnidirectional" if drives_everywhere else robot.drive,
        cameras=(
            *robot.cameras,
            *(camera for camera in model.cameras if camera.name not in cameras),
        ),
        lidars=(*robot.lidars, *(lidar for lidar in model.lidars if lidar.name not in lidars)),
    )


def _expanded(config: SceneConfig, robot: RobotConfig, path: Path, kind: str) -> str | None:
    """Return the text of a xacro file of a robot; None for another file."""
    if not is_xacro(path):
        return None
    from mujoco_ros.model.urdf.importing.xacro_file import expand_xacro  # most files are no xacro

    check_file(path, f"robot '{robot.name}': {kind}")
    arguments = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in robot.xacro_args.items()
    }
    folders = config.package_folders

    def find(package: str) -> Path:
        return package_directory(package, path.parent, folders)

    return expand_xacro(path, arguments, find)


def _apply_srdf(spec: mujoco.MjSpec, config: SceneConfig, robot: RobotConfig, path: Path) -> None:
    """Exclude the contacts that an SRDF file disables, and add its states as keyframes."""
    from mujoco_ros.model.urdf.importing.srdf import add_keyframes, disabled_pairs, read_srdf

    check_file(path, f"robot '{robot.name}': SRDF file")
    srdf = read_srdf(path, _expanded(config, robot, path, "SRDF file"))
    pairs = disabled_pairs(srdf, [body.name for body in spec.bodies[1:]])
    collisions.exclude_pairs(spec, pairs, str(path))
    add_keyframes(spec, srdf)


def object_part(config: SceneConfig, entity: ObjectConfig) -> ScenePart:
    """Read an object of a scene."""
    path = config.path(entity.model)
    spec = load_spec(path, where := f"object '{entity.name}'", config.package_folders)
    _shape_meshes(spec, entity, where)
    return _part(entity, spec, path.parent)


def _part(config: RobotConfig | ObjectConfig, spec: mujoco.MjSpec, folder: Path) -> ScenePart:
    files = snapshot_files(spec, folder)
    return ScenePart(config=config, spec=spec, prefix=f"{config.name}/", files=files)


@archives_together()
def part_from_file(
    path: Path,
    *,
    name: str,
    pose: PoseConfig | None = None,
    namespace: str | None = None,
    keys: Mapping[str, Any] = MappingProxyType({}),
) -> ScenePart:
    """Read a model that becomes a robot if it has scalar joints, else an object.

    By default it is at the origin, and the topics of a robot are in the namespace of its name.
    `keys` are further keys of a robot.
    """
    robot = RobotConfig(name=name, model=str(path), pose=pose or ORIGIN, **keys)
    return _part_of(_load(path, f"'{name}'"), path, robot, namespace)


@archives_together()
def part_from_text(
    text: str, *, name: str, pose: PoseConfig | None = None, namespace: str | None = None
) -> ScenePart:
    """Read a model from the text of an MJCF or URDF, as `part_from_file` from a file.

    The paths in it must be absolute.
    """
    content = without_comments(text)  # which may be longer than a header
    kind, _ = root_element(content[content.find("<") :])
    where, path = (
        f"the text of '{name}'",
        NO_FOLDER / f"{name}.{'urdf' if kind == 'robot' else 'xml'}",
    )
    if kind == "mujoco":
        model = ImportedUrdf(spec=_checked(read_mjcf_text(text, where), where))
    elif kind == "robot":
        check_characters(text, where)
        model = _import_urdf(path, text)
    else:
        begins = f"begins with <{kind}>" if kind else "is not XML"
        raise UnsupportedFormatError(
            f"{where} {begins}; MJCF begins with <mujoco>, and URDF with <robot>"
        )
    robot = RobotConfig(name=name, model="", pose=pose or ORIGIN)
    part = _part_of(model, path, robot, namespace)
    return replace(part, urdf=text) if kind == "robot" else part


def _part_of(
    model: ImportedUrdf, path: Path, robot: RobotConfig, namespace: str | None
) -> ScenePart:
    """Return the part of a model; a URDF gets the options that a robot of a scene has."""
    _edit(model, robot, SceneConfig(), f"'{robot.name}'", path)
    if any(joint.type in SCALAR_JOINTS for joint in model.spec.joints):
        robot = _with_sensors(replace(robot, namespace=namespace), model)
        return _part(robot, model.spec, path.parent)
    entity = ObjectConfig(name=robot.name, model=robot.model, pose=robot.pose)
    return _part(entity, model.spec, path.parent)


def load_spec(path: Path, owner: str, packages: Mapping[str, Path] | None = None) -> mujoco.MjSpec:
    """Read the model of an MJCF or URDF file; `packages` are for URIs."""
    return _load(path, owner, packages).spec


def _load(path: Path, owner: str, packages: Mapping[str, Path] | None = None) -> ImportedUrdf:
    """Read an MJCF or URDF file; an MJCF needs nothing beside its spec."""
    if path.suffix.lower() == XACRO_SUFFIX:
        raise UnsupportedFormatError(
            f"{owner}: '{path}' is a xacro file, which only a robot of the start scene can have"
        )
    if path.suffix.lower() == ".mjb":
        raise UnsupportedFormatError(
            f"{owner}: '{path}' is a compiled model, which can only run alone; "
            "name its MJCF or URDF to merge it with others"
        )
    if path.suffix.lower() not in MODEL_SUFFIXES:
        raise UnsupportedFormatError(
            f"{owner}: '{path}' is not a model; it must be one of {', '.join(MODEL_SUFFIXES)}"
        )
    check_file(path, f"{owner}: model file")
    if path.suffix.lower() == ".urdf":
        note_file(path)
        return _import_urdf(path, packages=packages)
    return ImportedUrdf(spec=_checked(read_mjcf(path, str(path), packages), str(path)))


def _import_urdf(
    path: Path, text: str | None = None, packages: Mapping[str, Path] | None = None
) -> ImportedUrdf:
    # A scene of MJCF files starts sooner without the importer.
    from mujoco_ros.model.urdf.importing.importer import import_urdf

    return import_urdf(path, text, packages)


def _checked(spec: mujoco.MjSpec, where: str) -> mujoco.MjSpec:
    """Return a spec in which all elements that ROS or a search needs have a name."""
    check_spec(spec, where)
    lists = (spec.joints, spec.actuators, spec.sensors, spec.cameras, spec.equalities, spec.tendons)
    for elements in (spec.bodies[1:], *lists):
        taken = {element.name for element in elements}
        for index, element in enumerate(elements):
            if not element.name:
                name = f"{kind_of(element)}{index}"
                element.name = name if name not in taken else f"unnamed_{name}"
    return spec
