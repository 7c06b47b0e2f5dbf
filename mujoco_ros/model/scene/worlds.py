"""Worlds that can be loaded, and the folders of the shipped models and of clients."""

import os
import site
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from mujoco_ros.model.archives import named
from mujoco_ros.model.errors import (
    MissingAssetError,
    MissingFileError,
    ParseError,
    UnsupportedFormatError,
    UserInputError,
)
from mujoco_ros.model.naming import header_comment, root_element
from mujoco_ros.model.packages import package_shares, share_directory
from mujoco_ros.model.scene.assembly import Assembly, assemble, assemble_part
from mujoco_ros.model.scene.config import (
    MODEL_SUFFIXES,
    ObjectConfig,
    RobotConfig,
    SceneConfig,
    load_scene,
    read_scene,
    scene_from_text,
    scene_path,
    shipped_scenes,
)
from mujoco_ros.model.scene.engine_plugins import check_plugins_loaded
from mujoco_ros.model.scene.parts import part_from_file, part_from_text
from mujoco_ros.model.scene.robot_collections import cached_collections
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.urdf.importing.markup import XACRO_SUFFIX, is_xacro
from mujoco_ros.model.uri import check_file, resolve


def shipped_uri(path: Path) -> str | None:
    """Return the ``package://`` URI of a file of this package; None for other files."""
    share = share_directory().resolve()
    path = path.resolve()
    if not path.is_relative_to(share):
        return None
    return f"package://mujoco_ros/{path.relative_to(share).as_posix()}"


def shipped_models() -> list[Path]:
    """Return the shipped models of robots and objects."""
    folder = share_directory() / "urdf_mjcf"
    found = [path for suffix in ("xml", "urdf") for path in folder.glob(f"*/*.{suffix}")]
    return sorted(path for path in found if path.parent.name != "worlds" and is_model(path))


def is_model(path: Path) -> bool:
    """Whether a file is an MJCF model or a URDF, and no part that others include."""
    with suppress(UserInputError):  # it is no text
        return root_element(read_text(path))[0] in ("mujoco", "robot")
    return False


def shipped_worlds() -> list[Path]:
    """Return the shipped worlds without robots."""
    return sorted((share_directory() / "urdf_mjcf" / "worlds").glob("*.xml"))


@cache
def _robots() -> dict[Path, RobotConfig]:
    found: dict[Path, RobotConfig] = {}
    for scene in shipped_scenes().values():
        config = read_scene(scene)
        for robot in config.robots:
            found.setdefault(config.path(robot.model), robot)
    return found


def shipped_settings(model: Path) -> RobotConfig | None:
    """Return how the first shipped scene with the robot of a model file configures it."""
    return _robots().get(model.resolve())


def client_folders(scene: str, configured: Iterable[str]) -> Iterator[Path]:
    """Yield the folders in which clients may name files; a folder need not exist.

    They are configured folders, the folder of the scene at the start, the share folders of
    packages, the installed Python packages, and the caches of robot descriptions.
    """
    yield from (Path(folder).expanduser().absolute() for folder in configured if folder)
    yield from _folder_of(scene)
    yield share_directory()
    yield from package_shares()
    yield from map(Path, (*site.getsitepackages(), site.getusersitepackages()))
    yield from cached_collections()


def _folder_of(scene: str) -> Iterator[Path]:
    """Yield the folder of a scene, and of the package around it, unless it has a user's home."""
    with suppress(UserInputError):
        path = scene_path(scene)
        folder = next(
            (above for above in path.parents if (above / "package.xml").is_file()), path.parent
        )
        # A scene in the home folder is no reason to open all of it to clients.
        if not Path(os.path.realpath(Path.home())).is_relative_to(os.path.realpath(folder)):
            yield folder


NO_WORLD = "no_world"
_SCENE_SUFFIXES = (".yaml", ".yml")
_MAX_FILES = 1000
_MAX_ENTRIES = 20_000
"""Limit of the files and folders searched below a source, about a second of search."""
_XML = "<"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldDescription:
    """A world that can be loaded."""

    name: str
    uri: str  # URI of its file; empty for a text
    description: str  # first sentence of the first comment in its file
    tags: tuple[str, ...]  # ``scene``, ``model`` or ``text``, and the names of a scene's robots


def describe_loaded_world(reference: str, assembly: Assembly) -> WorldDescription:
    """Describe a world that was loaded from a reference, as for `load_scene`; empty for a text."""
    if not reference:
        robots = tuple(robot.name for robot in assembly.config.robots)
        return WorldDescription(
            name=assembly.config.name, uri="", description="", tags=("text", *robots)
        )
    path = scene_path(reference)
    if path.suffix.lower() == XACRO_SUFFIX:
        uri, header = path.as_uri(), header_comment(read_text(path))
        return WorldDescription(name=path.stem, uri=uri, description=header, tags=("model",))
    return describe_world(path)


def load_world(reference: str) -> Assembly:
    """Load a scene or model, given as for `load_scene`; a model without joints has no robot."""
    config = _allowed_for_clients(load_scene(reference))
    if config.merged or Path(config.robots[0].model).suffix.lower() == ".mjb":
        return _assemble(config)
    part = part_from_file(Path(config.robots[0].model), name=config.name)
    has_joints = part.spec is not None and bool(part.spec.joints)
    if has_joints or not isinstance(part.config, ObjectConfig):
        return _assemble(config)
    return assemble_part(part)


def world_from_text(text: str) -> Assembly:
    """Load a world from the text of a scene (YAML), an MJCF or a URDF, as `load_world` does."""
    if text.lstrip().startswith(_XML):
        return assemble_part(part_from_text(text, name=root_element(text)[1] or "world"))
    return _assemble(_allowed_for_clients(scene_from_text(text)))


def _allowed_for_clients(config: SceneConfig) -> SceneConfig:
    """Return a scene that a client names, without new plugins and expressions to evaluate."""
    for folder in config.plugins:
        check_plugins_loaded(config.path(folder))
    for robot in config.robots:
        for file in (robot.model, robot.srdf or ""):
            with suppress(MissingFileError):  # which the assembly reports
                if file and is_xacro(config.path(file)):
                    raise UnsupportedFormatError(
                        f"robot '{robot.name}': '{file}' is a xacro file, whose expressions are "
                        "evaluated; only the scene that the simulator starts with can have one"
                    )
    return config


def no_world() -> Assembly:
    """Return the empty world."""
    return assemble(SceneConfig(name=NO_WORLD))


def _assemble(config: SceneConfig) -> Assembly:
    """Assemble a scene; a missing file is one that the scene names."""
    try:
        return assemble(config)
    except MissingFileError as error:
        raise MissingAssetError(str(error)) from error


def describe_shipped_worlds() -> list[WorldDescription]:
    """Describe the worlds of this package."""
    return [describe_world(path) for path in (*shipped_scenes().values(), *shipped_worlds())]


def find_worlds(source: str) -> list[WorldDescription]:
    """Describe the world of a file, or the worlds of all files below a folder."""
    path = resolve(source, Path.cwd())
    if not path.is_dir():
        check_file(path, "source of worlds")
        return [describe_world(path)]
    found = []
    for file in files_below(path, (*_SCENE_SUFFIXES, *MODEL_SUFFIXES)):
        try:
            found.append(describe_world(file))
        except UserInputError:
            continue  # other files
    return found


def files_below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the first thousand files below a folder with one of the suffixes."""
    try:
        entries = list(islice(folder.rglob("*"), _MAX_ENTRIES + 1))
        if len(entries) > _MAX_ENTRIES:
            raise UserInputError(
                f"there are more than {_MAX_ENTRIES} files and folders below '{folder}'; name a "
                "subfolder"
            )
        found = (
            path for path in sorted(entries) if path.suffix.lower() in suffixes and path.is_file()
        )
        return list(islice(found, _MAX_FILES))
    except OSError as error:
        raise UserInputError(f"'{folder}' cannot be read: {error.strerror}") from error


def describe_world(path: Path) -> WorldDescription:
    """Describe the scene or model of a file, without reading its meshes."""
    uri = shipped_uri(path) or named(path).as_uri()
    if path.suffix.lower() == ".mjb":
        return WorldDescription(name=path.stem, uri=uri, description="", tags=("model",))
    if path.suffix.lower() not in (*_SCENE_SUFFIXES, *MODEL_SUFFIXES):
        raise UserInputError(f"'{path}' is not a world: it must be .yaml, .xml, .urdf or .mjb")
    text = read_text(path)
    if path.suffix.lower() in _SCENE_SUFFIXES:
        tags: tuple[str, ...] = ("scene", *(robot.name for robot in read_scene(path).robots))
    elif root_element(text)[0] in ("mujoco", "robot"):
        tags = ("model",)
    else:
        raise ParseError(f"'{path}' is not a model: its first element is neither mujoco nor robot")
    return WorldDescription(name=path.stem, uri=uri, description=header_comment(text), tags=tags)
