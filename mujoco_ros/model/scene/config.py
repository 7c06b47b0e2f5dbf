"""The configuration of a scene: the checked content of a scene YAML."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from mujoco_ros.model import errors
from mujoco_ros.model.file_access import read_file
from mujoco_ros.model.naming import HEADER_CHARACTERS, NAME, check_name, root_element, to_name
from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.pose import ORIGIN, PoseConfig
from mujoco_ros.model.realism_config import RealismConfig, resolve_profile
from mujoco_ros.model.scene.collisions import ConvexDecomposition, SelfCollision
from mujoco_ros.model.scene.joint_options import JointOptions
from mujoco_ros.model.scene.limits import MAX_OBJECTS, MAX_ROBOTS, check_count
from mujoco_ros.model.scene.overlay import EXTENDS, MAX_OVERLAYS, SceneOverlay, overlaid
from mujoco_ros.model.scene.physics_options import PhysicsConfig
from mujoco_ros.model.scene.random_ranges import RandomRange
from mujoco_ros.model.scene.robot_collections import find_robot, split_reference
from mujoco_ros.model.sensors.cameras import CameraConfig
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.sensors.lidars import LidarConfig
from mujoco_ros.model.strict import from_dict, parse_yaml, read_yaml
from mujoco_ros.model.urdf.importing.markup import XACRO_SUFFIX, is_xacro
from mujoco_ros.model.uri import check_file, resolve

MODEL_SUFFIXES = (".xml", ".mjcf", ".urdf", ".mjb")
NO_FOLDER = Path("/a text has no folder")
"""Placeholder for the folder of a model or scene that is given as text."""
BaseKind = Literal["auto", "fixed", "free"]
MAX_RATE_HZ = 100_000.0
MIN_RATE_HZ = 0.001
RATES = {
    "joint_states": 500.0,
    "joint_references": 500.0,
    **{kind.key: kind.rate_hz for kind in SENSOR_KINDS},
    "sensor_states": 500.0,
    "sensor_array": 100.0,
    "contact_states": 100.0,
    "odom": 500.0,
    "base_accel": 500.0,
    "tf": 100.0,
    "controller_state": 100.0,
    "cartesian_state": 100.0,
}
"""Default publish rates in simulated time [Hz]."""
ROBOT_RATES = tuple(key for key in RATES if key != "tf")
_ARGUMENT = re.compile(r"\s+([A-Za-z_]\w*):=")
_GENERIC_NAMES = ("", "scene", "model", "robot", "mujoco", "mujoco_model")
"""Names of models that name no robot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ObjectConfig:
    """An object of the scene that is not a robot; free if its model has a free joint."""

    name: str
    model: str
    pose: PoseConfig = ORIGIN
    convex_decomposition: dict[str, ConvexDecomposition] = field(default_factory=dict)
    sdf: tuple[str, ...] = ()  # bodies whose meshes collide by their signed distance fields

    def __post_init__(self) -> None:
        check_name(self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class RobotConfig:
    """A robot of the scene; None is the value of the model, or the default of the parameters."""

    name: str
    model: str  # path or URI of its model; empty for a model given as text
    pose: PoseConfig = ORIGIN
    keyframe: str | None = None
    gains: str | None = None  # gains file; without one, gains are derived from the model
    # Joint or tendon of the gripper controller, or an actuator on one of them
    gripper: str | None = None
    urdf: str | None = None  # file that replaces the robot_description exported from the model
    srdf: str | None = None  # SRDF file, whose disabled collisions and named states are read
    xacro_args: dict[str, bool | int | float | str] = field(default_factory=dict)
    # ``auto`` (links of a URDF that overlap at the start do not collide), ``none`` or ``all``
    self_collision: SelfCollision = "auto"
    exclude: tuple[tuple[str, str], ...] = ()
    convex_decomposition: dict[str, ConvexDecomposition] = field(default_factory=dict)
    sdf: tuple[str, ...] = ()  # links whose meshes collide by their signed distance fields
    joints: dict[str, JointOptions] = field(default_factory=dict)
    # Whether the weight of the links, of a fixed base, is compensated
    gravity_compensation: bool = False
    # ``auto`` follows the content of a URDF, and is the model's own base in an MJCF
    base: BaseKind = "auto"
    # Whether its wheels are driven by a controller: ``auto`` (if they are recognized), ``none``, or
    # ``omnidirectional`` (four mecanum wheels, whatever they look like)
    drive: Literal["auto", "none", "omnidirectional"] = "auto"
    # Parameters of that controller, by dotted name, such as ``linear.x.max_velocity``
    drive_parameters: dict[str, bool | int | float | str | list[float]] = field(
        default_factory=dict
    )
    namespace: str | None = None
    # Rates of its topics [Hz of simulated time], 0 for off
    publish_rate: dict[str, float | None] = field(default_factory=dict)
    cameras: tuple[CameraConfig, ...] = ()  # cameras to add, or settings of cameras of the model
    lidars: tuple[LidarConfig, ...] = ()  # lidars to add, or settings of lidars of the model
    # Imperfections of its sensors, joints and actuators, including its profile; None is the profile
    # of the parameter ``realism``
    realism: RealismConfig | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.namespace and not all(NAME.match(part) for part in self.namespace.split("/")):
            raise errors.NamespaceError(
                f"namespace '{self.namespace}' is not a relative ROS namespace"
            )
        _check_rates(self.publish_rate)
        _check_sensors(self.cameras, self.lidars)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtensionConfig:
    """An extension of the scene."""

    use: str  # name under which an installed package registers it
    name: str | None = None  # name of its parameters and topics; None for `use`
    # The robot that it belongs to, or a pattern of several, which get one each, also robots that
    # are spawned; empty if it belongs to the scene
    robot: str = ""
    # What an error in it does: disables it, or pauses the simulation as well
    on_error: Literal["disable", "pause"] = "disable"
    # Settings of the extension, which are its own to check
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name(self.label)

    @property
    def label(self) -> str:
        """Return its name."""
        return self.use if self.name is None else self.name


@dataclass(frozen=True, kw_only=True, slots=True)
class _SceneFile:
    """The keys of a scene YAML."""

    world: str | None = None
    robots: tuple[RobotConfig, ...]
    objects: tuple[ObjectConfig, ...] = ()
    plugins: tuple[str, ...] = ()
    packages: dict[str, str] = field(default_factory=dict)
    physics: PhysicsConfig = field(default_factory=PhysicsConfig)
    cameras: tuple[CameraConfig, ...] = ()
    lidars: tuple[LidarConfig, ...] = ()
    extensions: tuple[ExtensionConfig, ...] = ()
    randomize: dict[str, RandomRange] = field(default_factory=dict)  # as in `RandomRanges`
    # ros2_control parameter file of its robots; the parameter `controllers_file` precedes
    controllers_file: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SceneConfig(_SceneFile):
    """A scene. Paths are absolute, or relative to `folder`; `packages` are folders by package."""

    name: str = "scene"
    folder: Path = Path()
    robots: tuple[RobotConfig, ...] = ()
    merged: bool = True
    """Whether models are merged under prefixes (scene file) or one runs alone (model file)."""

    def __post_init__(self) -> None:
        names = [robot.name for robot in self.robots] + [entity.name for entity in self.objects]
        _check_different("robots or objects", names)
        namespaces = [self.namespace(robot) for robot in self.robots]
        for namespace in namespaces:
            if namespaces.count(namespace) > 1:
                raise errors.NamespaceError(f"two robots share the namespace '{namespace}'")
        _check_sensors(self.cameras, self.lidars)
        labels = [extension.label for extension in self.extensions]
        _check_different("extensions", labels, "give each a 'name' of its own")

    def namespace(self, robot: RobotConfig) -> str:
        """Return the namespace of a robot: by default none for a single one, else its name."""
        if robot.namespace is not None:
            return robot.namespace
        return robot.name if len(self.robots) > 1 else ""

    def path(self, uri: str) -> Path:
        """Return the absolute path of a file of the scene."""
        named = split_reference(uri)
        return find_robot(*named) if named else resolve(uri, self.folder, self.package_folders)

    @property
    def package_folders(self) -> dict[str, Path]:
        """Return the folders of `packages`."""
        return {name: resolve(uri, self.folder) for name, uri in self.packages.items()}


def _check_rates(rates: Mapping[str, float | None]) -> None:
    for key, rate in rates.items():
        if key not in ROBOT_RATES:
            raise errors.unknown("key", key, ROBOT_RATES, where="publish_rate")
        if rate is not None and not (rate == 0 or MIN_RATE_HZ <= rate <= MAX_RATE_HZ):
            raise errors.UserInputError(
                f"publish_rate: rate '{key}' must be 0 (off), or from {MIN_RATE_HZ:g} to "
                f"{MAX_RATE_HZ:g} Hz, got {rate:g}"
            )


def _check_sensors(cameras: tuple[CameraConfig, ...], lidars: tuple[LidarConfig, ...]) -> None:
    _check_different("cameras", [camera.name for camera in cameras])
    _check_different("lidars", [lidar.name for lidar in lidars])


def _check_different(kind: str, names: list[str], remedy: str = "names must differ") -> None:
    for name in names:
        if names.count(name) > 1:
            raise errors.NameTakenError(f"two {kind} are named '{name}'; {remedy}")


def shipped_scenes() -> dict[str, Path]:
    """Return the files of the shipped scenes by name."""
    folder = share_directory() / "config" / "scenes"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def split_arguments(reference: str) -> tuple[str, dict[str, str]]:
    """Split ``<scene> NAME:=VALUE …`` into the scene and its arguments, as for `load_scene`."""
    scene, *arguments = _ARGUMENT.split(reference)
    return scene, dict(zip(arguments[::2], map(str.strip, arguments[1::2]), strict=True))


def model_arguments(arguments: dict[str, str]) -> dict[str, Any]:
    """Remove the arguments that every model has, and return the keys of a robot that they are.

    They are ``base``, and the pattern of links of ``convex_decomposition`` and of ``sdf``.
    """
    base, choices = arguments.pop("base", "auto"), get_args(BaseKind)
    if base not in choices:
        raise errors.unknown("base", base, choices)
    keys: dict[str, Any] = {"base": base}
    if pattern := arguments.pop("convex_decomposition", ""):
        keys["convex_decomposition"] = {pattern: ConvexDecomposition()}
    if pattern := arguments.pop("sdf", ""):
        keys["sdf"] = (pattern,)
    return keys


def scene_path(reference: str, folder: Path | None = None) -> Path:
    """Return the file of a scene, given as for `load_scene`; it need not exist."""
    scene, shipped = split_arguments(reference)[0], shipped_scenes()
    if scene in shipped:
        return shipped[scene]
    named = split_reference(scene)
    return find_robot(*named) if named else resolve(scene, folder or Path.cwd())


def load_scene(reference: str, folder: Path | None = None, *, overlays: int = 0) -> SceneConfig:
    """Read a scene.

    Args:
        reference: Name of a shipped scene, path or URI of a scene YAML, MJCF, URDF, xacro or MJB
            file, or ``<collection>:<robot>`` as for `find_robot`; after a xacro file, its
            arguments: ``arm.urdf.xacro prefix:=left_ tool:=true``. The arguments of
            `model_arguments` are for any model.
        folder: Folder of relative paths; None is the working directory.
        overlays: Number of scenes that extend this one.

    Raises:
        UserInputError: The scene or file does not exist, or its content is invalid.
    """
    path, shipped = scene_path(reference, folder), shipped_scenes()
    scene, arguments = split_arguments(reference)
    if not path.suffix and "/" not in scene:
        raise errors.MissingFileError(
            f"{errors.unknown('scene', scene, shipped)}; a robot of a collection is "
            "<collection>:<robot>, e.g. example-robot-data:ur10"
        )
    check_file(path, "scene file", f"; give a file or one of: {', '.join(shipped)}")
    keys = model_arguments(arguments)
    if arguments and not is_xacro(path):
        raise errors.UserInputError(
            f"'{scene}' is no xacro file, so it takes no arguments ({', '.join(arguments)})"
        )
    if path.suffix.lower() in (".yaml", ".yml"):
        return read_scene(path, overlays)
    if path.suffix.lower() in (*MODEL_SUFFIXES, XACRO_SUFFIX):
        name = _robot_name(path)
        robot = RobotConfig(name=name, model=str(path), xacro_args=dict(arguments), **keys)
        return SceneConfig(name=name, folder=path.parent, robots=(robot,), merged=False)
    raise errors.UnsupportedFormatError(
        f"'{path}': unknown kind of file '{path.suffix}'; a scene is .yaml, a model is one of "
        f"{', '.join((*MODEL_SUFFIXES, XACRO_SUFFIX))}"
    )


def _robot_name(path: Path) -> str:
    """Return the name in a model file, or else the name of the file or its folder."""
    stem = path.name.removesuffix(path.suffix).removesuffix(".urdf")
    candidates = [stem, path.resolve().parent.name]
    if path.suffix.lower() not in (".mjb", XACRO_SUFFIX):  # a xacro file may compute the name
        header = read_file(path, "model file", first=HEADER_CHARACTERS).decode(errors="replace")
        candidates.insert(0, root_element(header)[1])
    names = [to_name(name).removesuffix("_scene") for name in candidates]
    return next((name for name in names if name.lower() not in _GENERIC_NAMES), "robot")


def read_scene(path: Path, overlays: int = 0) -> SceneConfig:
    """Read a scene YAML, which `overlays` scenes extend."""
    return _scene(read_yaml(path), str(path), path.stem, path.parent, overlays)


def scene_from_text(text: str, name: str = "scene") -> SceneConfig:
    """Read the text of a scene YAML, whose paths are absolute or URIs."""
    where = "the text of the scene"
    return _scene(parse_yaml(text, where), where, name, NO_FOLDER)


def _scene(content: object, where: str, name: str, folder: Path, overlays: int = 0) -> SceneConfig:
    if content is None:
        raise errors.UserInputError(f"{where}: the file is empty")
    if isinstance(content, dict) and EXTENDS in content:
        return _extended(from_dict(SceneOverlay, content, where), where, name, folder, overlays + 1)
    data = from_dict(_SceneFile, content, where)
    if not data.robots:
        raise errors.UserInputError(f"{where}: 'robots' is empty: a scene needs at least one robot")
    check_count("robots", data.robots, MAX_ROBOTS, where)
    check_count("objects", data.objects, MAX_OBJECTS, where)
    keys = {key.name: getattr(data, key.name) for key in fields(data)}
    try:
        scene = SceneConfig(name=name, folder=folder, **keys)
        robots = tuple(
            robot
            if robot.realism is None
            else replace(robot, realism=resolve_profile(robot.realism, scene.path, robot.name))
            for robot in scene.robots
        )
        return replace(scene, robots=robots)
    except errors.UserInputError as error:
        raise errors.UserInputError(f"{where}: {error}") from error


def _extended(
    overlay: SceneOverlay, where: str, name: str, folder: Path, overlays: int
) -> SceneConfig:
    """Return the scene that an overlay extends, with its changes and its name."""
    if overlays > MAX_OVERLAYS:
        raise errors.UserInputError(
            f"{where}: more than {MAX_OVERLAYS} scenes extend one another; does one extend itself?"
        )
    scene = load_scene(overlay.extends, folder, overlays=overlays)
    try:
        robots = overlaid(scene.robots, overlay.robots)
        return replace(
            scene, name=name, robots=robots, randomize=scene.randomize | overlay.randomize
        )
    except errors.UserInputError as error:
        raise errors.UserInputError(f"{where}: {error}") from error
