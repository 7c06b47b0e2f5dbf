"""Merging the robots and objects of a scene into one MuJoCo model."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import mujoco

from mujoco_ros.model import errors
from mujoco_ros.model.archives import archives_together
from mujoco_ros.model.file_access import read_file
from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.pose import quaternion_wxyz
from mujoco_ros.model.reading import note_file
from mujoco_ros.model.scene.asset_snapshot import AssetFile, restore_files, snapshot_files
from mujoco_ros.model.scene.collisions import report_hollows
from mujoco_ros.model.scene.config import ObjectConfig, RobotConfig, SceneConfig
from mujoco_ros.model.scene.engine_plugins import (
    check_plugin_slots,
    load_plugins,
    reserve_attributes,
)
from mujoco_ros.model.scene.floor import put_on_floor
from mujoco_ros.model.scene.limits import check_model, check_numbers
from mujoco_ros.model.scene.mjcf_files import ENGINE_ERRORS, engine_error, silence_compiler
from mujoco_ros.model.scene.parts import ScenePart, load_spec, object_part, robot_part
from mujoco_ros.model.scene.physics_options import write_options
from mujoco_ros.model.sensors.cameras import edit_cameras
from mujoco_ros.model.sensors.lidars import edit_lidars

_FLOOR = "urdf_mjcf/worlds/ground.xml"
_REFERRING = ("actuators", "sensors", "equalities", "tendons", "excludes", "pairs", "tuples")


@dataclass(frozen=True, kw_only=True, eq=False)
class Assembly:
    """The model of a scene, and the parts that it was merged from."""

    config: SceneConfig  # the current scene, with spawned robots and without deleted ones
    model: mujoco.MjModel
    # The world; the parts are merged into a copy. None for a compiled model (MJB), which cannot be
    # changed.
    base: mujoco.MjSpec | None
    base_files: tuple[AssetFile, ...] = ()  # snapshot of the files of the world
    parts: tuple[ScenePart, ...] = ()  # robots and objects in the order of the model
    compiler_log: tuple[str, ...] = ()

    @property
    def robots(self) -> tuple[ScenePart, ...]:
        """Return the parts that are robots, in the order of the scene."""
        parts = {part.config.name: part for part in self.parts}
        return tuple(parts[robot.name] for robot in self.config.robots)

    def shares_parts_with(self, other: "Assembly") -> bool:
        """Whether both have the same world, or a part in common."""
        world = self.base is not None and self.base is other.base
        return world or any(part in other.parts for part in self.parts)

    def part_of(self, name: str) -> ScenePart | None:
        """Return the part of an element of the model; None is the world."""
        owner, slash, _ = name.partition("/")
        if slash:
            for part in self.parts:
                if part.prefix and part.name == owner:
                    return part
        return next((part for part in self.parts if not part.prefix), None)


@archives_together()
def assemble(config: SceneConfig) -> Assembly:
    """Load the files of a scene, and merge and compile its model.

    Raises:
        UserInputError: A file is missing or wrong, or the merged model does not compile.
    """
    for folder in config.plugins:
        load_plugins(config.path(folder))
    if config.robots and config.path(config.robots[0].model).suffix.lower() == ".mjb":
        assembly = _binary(config)
    else:
        assembly = _merged(config)
    if config.robots and not assembly.model.njnt:
        raise errors.UserInputError(
            f"scene '{config.name}': the model has no joint, so nothing can move; "
            "`base: free` in a scene file, or '<file> base:=free', frees the base of a robot"
        )
    return assembly


def _merged(config: SceneConfig) -> Assembly:
    if not config.merged:
        (robot,) = config.robots
        part = robot_part(config, robot, prefix="")
        assert part.spec is not None
        base, files = part.spec, part.files
        if part.is_freed:
            part, base, files = _on_ground(part)
        return _build(_with_robots(config, [part]), base, files, (part,))
    base, files = _world(config)
    robots = [robot_part(config, robot, prefix=f"{robot.name}/") for robot in config.robots]
    objects = [object_part(config, entity) for entity in config.objects]
    parts = put_on_floor(base, files, (*robots, *objects))
    return _build(_with_robots(config, parts), base, files, parts)


def _on_ground(part: ScenePart) -> tuple[ScenePart, mujoco.MjSpec, tuple[AssetFile, ...]]:
    """Return a robot that would fall on a floor, with the spec and the files of both."""
    base, files = _world(SceneConfig(world=str(share_directory() / _FLOOR)))
    (part,) = put_on_floor(base, files, (part,))
    restore_files(base, files)
    base.copy_during_attach = True
    with silence_compiler():  # it warns of the empty prefix, which concerns saved files
        _attach(base, part)
    return part, base, (*files, *part.files)


def _with_robots(config: SceneConfig, parts: Iterable[ScenePart]) -> SceneConfig:
    """Return a scene whose robots have the sensors of their models."""
    robots = tuple(part.config for part in parts if isinstance(part.config, RobotConfig))
    return replace(config, robots=robots)


def assemble_part(part: ScenePart) -> Assembly:
    """Return a part as a scene without prefixes: as its robot, or else as its world."""
    alone = replace(part, prefix="")
    if isinstance(part.config, RobotConfig):
        config = SceneConfig(name=part.name, robots=(part.config,), merged=False)
        return _build(config, part.spec, part.files, (alone,))
    return _build(SceneConfig(name=part.name), part.spec, part.files, ())


def rebuild(
    assembly: Assembly, *, add: Iterable[ScenePart] = (), remove: Iterable[str] = ()
) -> Assembly:
    """Merge a scene again with other parts; files of the remaining parts are not read again.

    Remaining robots keep their namespaces. New parts come last in the model. `remove` has the names
    of parts to remove first.
    """
    removed, new = set(remove), tuple(add)
    names = [part.name for part in assembly.parts]
    for name in removed:
        if name not in names:
            raise errors.unknown("robot or object", name, names)
    kept = tuple(part for part in assembly.parts if part.name not in removed)
    base, files = assembly.base, assembly.base_files
    if any(part.prefix == "" and part.name in removed for part in assembly.parts):
        base, files = mujoco.MjSpec(), ()
        adopt_options(base.option, assembly.model.opt)
    if base is None:
        raise errors.UnsupportedFormatError(
            f"'{assembly.config.name}' is a compiled model (MJB), which can only run alone; "
            "start with its MJCF or URDF to add to it"
        )
    taken = {part.name for part in kept}
    for part in new:
        if part.name in taken or _has_prefix(base, part.prefix):
            raise errors.NameTakenError(
                f"'{part.name}' is the name of another element of the scene"
            )
        taken.add(part.name)
    config = _changed(assembly.config, kept, new)
    try:
        return _build(config, base, files, (*kept, *new), assembly.model, new)
    except (errors.ParseError, errors.MissingAssetError) as error:
        listing = ", ".join(f"'{part.name}'" for part in new)
        raise type(error)(f"with {listing}, {error}" if new else str(error)) from error


def _changed(
    config: SceneConfig, kept: tuple[ScenePart, ...], new: tuple[ScenePart, ...]
) -> SceneConfig:
    """Return a scene of the remaining and the new parts, each robot in its namespace."""
    remaining = {part.name for part in kept}
    robots = [
        replace(robot, namespace=config.namespace(robot))
        for robot in config.robots
        if robot.name in remaining
    ]
    for part in new:
        if isinstance(part.config, RobotConfig):
            own = part.config.namespace
            robots.append(replace(part.config, namespace=part.name if own is None else own))
    objects = [entity for entity in config.objects if entity.name in remaining]
    objects += [part.config for part in new if isinstance(part.config, ObjectConfig)]
    return replace(config, robots=tuple(robots), objects=tuple(objects))


def _has_prefix(base: mujoco.MjSpec, prefix: str) -> bool:
    """Whether a name in the world has the prefix of a part."""
    return any(body.name.startswith(prefix) for body in base.bodies) or any(
        frame.name == prefix for frame in base.frames
    )


def merged_model(assembly: Assembly) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    """Merge a scene again; return its spec, and the model that was compiled from it."""
    if assembly.base is None:
        raise errors.UnsupportedFormatError(
            f"'{assembly.config.name}' is a compiled model (MJB), which has no MJCF"
        )
    return _compiled(
        assembly.config, assembly.base, assembly.base_files, assembly.parts, usethread=False
    )


def _compiled(
    config: SceneConfig,
    base: mujoco.MjSpec,
    files: tuple[AssetFile, ...],
    parts: tuple[ScenePart, ...],
    *,
    usethread: bool,
) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    spec = base.copy()
    restore_files(spec, files)
    _check_copy(base, _referring(spec), f"scene '{config.name}' does not compile")
    if config.merged:
        spec.modelname = config.name
    _merge(spec, parts)
    write_options(spec.option, config.physics)
    reserve_attributes(spec)
    if any(name.endswith(".ipos") for name in config.randomize):
        for body in spec.bodies[1:]:
            body.simple = False  # else the engine takes the centre of mass for the origin
    # Beside a simulation, threads of the compiler would wait for a processor; this one has a
    # priority.
    spec.compiler.usethread = usethread
    try:
        return spec, spec.compile()
    except ENGINE_ERRORS as error:
        raise engine_error(f"scene '{config.name}' does not compile", error) from error


def _build(
    config: SceneConfig,
    base: mujoco.MjSpec,
    files: tuple[AssetFile, ...],
    parts: tuple[ScenePart, ...],
    before: mujoco.MjModel | None = None,
    new: tuple[ScenePart, ...] | None = None,
) -> Assembly:
    """Merge copies of the parts into a copy of the world, and compile the model.

    `before` is the model that it replaces, and `new` are the parts that it lacks.
    """
    with silence_compiler() as caught:
        _, model = _compiled(config, base, files, parts, usethread=before is None)
    _finish(model, config.name, before)
    warnings = (warning.message for warning in caught if issubclass(warning.category, UserWarning))
    log = tuple(dict.fromkeys(" ".join(str(message).split()) for message in warnings))
    for part in parts if new is None else new:
        is_robot = isinstance(part.config, RobotConfig)
        where = f"{'robot' if is_robot else 'object'} '{part.name}'"
        report_hollows(model, part.prefix, where, logging.INFO if is_robot else logging.WARNING)
    return Assembly(
        config=config, model=model, base=base, base_files=files, parts=parts, compiler_log=log
    )


def _binary(config: SceneConfig) -> Assembly:
    """Load a compiled model (MJB)."""
    robot = config.robots[0]
    path = config.path(robot.model)
    if config.merged and (len(config.robots) > 1 or config.objects or config.world):
        raise errors.UserInputError(
            f"'{path}' is a compiled model, which can only run alone, without a world"
        )
    if (
        config.cameras
        or config.lidars
        or robot.cameras
        or any(lidar.body for lidar in robot.lidars)
    ):
        raise errors.UserInputError(
            f"'{path}' is a compiled model, whose cameras cannot be changed and to which nothing "
            "can be added; name its MJCF or URDF"
        )
    if robot.joints or robot.gravity_compensation:
        raise errors.UserInputError(
            f"'{path}' is a compiled model, for which 'joints' and 'gravity_compensation' have no "
            "effect; name its MJCF or URDF"
        )
    note_file(path)
    content = read_file(path, "model file")
    try:
        model = mujoco.MjModel.from_binary_path(str(path), {str(path): content})
    except ENGINE_ERRORS as error:
        raise errors.UserInputError(
            f"{path}: {' '.join(str(error).split())} (MJB files are made for one MuJoCo version, "
            f"here {mujoco.__version__})"
        ) from error
    check_plugin_slots(model, f"'{path}'")
    write_options(model.opt, config.physics)
    _finish(model, config.name)
    part = ScenePart(config=robot, spec=None, prefix="")
    return Assembly(config=config, model=model, base=None, parts=(part,))


def _finish(model: mujoco.MjModel, scene: str, before: mujoco.MjModel | None = None) -> None:
    check_model(model, f"scene '{scene}'", before)
    check_numbers(model)
    # The simulator resets to the keyframe and reports it; the engine resets to qpos0 silently.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET


def _world(config: SceneConfig) -> tuple[mujoco.MjSpec, tuple[AssetFile, ...]]:
    files: tuple[AssetFile, ...] = ()
    if config.world is not None:
        path = config.path(config.world)
        spec = load_spec(path, "the world")
        files = snapshot_files(spec, path.parent)
    else:
        spec = mujoco.MjSpec()
        # Stiff servos and light links stay stable.
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_DISCRETE
    edit_cameras(spec, config.cameras, "the world")
    edit_lidars(spec, config.lidars, "the world")
    return spec, files


def _merge(spec: mujoco.MjSpec, parts: Iterable[ScenePart]) -> None:
    """Attach copies of every part to the world, each under its prefix."""
    spec.copy_during_attach = True
    for part in parts:
        if part.prefix:
            _attach(spec, part)


def _attach(spec: mujoco.MjSpec, part: ScenePart) -> None:
    if part.spec is None:
        return
    pose = part.config.pose
    frame = spec.worldbody.add_frame(pos=pose.xyz, quat=quaternion_wxyz(pose), name=part.prefix)
    # The options of the world apply; equal ones cause no warning.
    own = part.spec.copy()  # the engine writes the prefix into the names of files
    adopt_options(own.option, spec.option)
    restore_files(own, part.files)
    before = _referring(spec)
    try:
        spec.attach(own, prefix=part.prefix, frame=frame)
    except ENGINE_ERRORS as error:
        raise engine_error(f"'{part.name}' cannot be merged", error) from error
    _check_copy(part.spec, _referring(spec) - before, f"'{part.name}' cannot be merged")


def _referring(spec: mujoco.MjSpec) -> int:
    """Return the number of elements that refer to others by name."""
    return sum(len(getattr(spec, name)) for name in _REFERRING)


def _check_copy(spec: mujoco.MjSpec, copied: int, where: str) -> None:
    """Reject references to elements that do not exist.

    MuJoCo's copy silently omits an element with such a reference; the compiler names it.
    """
    if copied >= _referring(spec):
        return
    try:
        spec.compile()
    except ENGINE_ERRORS as error:
        raise engine_error(where, error) from error


def adopt_options(option: Any, source: Any) -> None:
    """Copy the options of the engine from another model or spec."""
    for name in dir(option):
        if not name.startswith("_"):
            setattr(option, name, getattr(source, name))
