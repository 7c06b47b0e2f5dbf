"""Worlds to load: from files, from texts, and none at all."""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mujoco_ros.model.errors import (
    MissingAssetError,
    MissingFileError,
    ParseError,
    UserInputError,
)
from mujoco_ros.model.scene.assembly import Assembly, assemble, assemble_part
from mujoco_ros.model.scene.config import (
    MODEL_SUFFIXES,
    ObjectConfig,
    SceneConfig,
    load_scene,
    read_scene,
    scene_from_text,
    shipped_scenes,
)
from mujoco_ros.model.scene.engine_plugins import check_loaded
from mujoco_ros.model.scene.file_header import remark, root_element
from mujoco_ros.model.scene.parts import part_from_file, part_from_text
from mujoco_ros.model.scene.shipped import shipped_uri, shipped_worlds
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.uri import check_file, resolve

NO_WORLD = "no_world"
_SCENE_SUFFIXES = (".yaml", ".yml")
_MOST_FILES = 1000
_MOST_ENTRIES = 20_000
"""Of files and folders to look at below one source: that takes about a second."""
_XML = "<"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorldOffer:
    """A world that can be loaded.

    Attributes:
        name: Its name.
        uri: Where it is.
        description: What its file says it is, in a sentence.
        tags: ``scene``, ``model`` or ``text``, as it was given; and the names of a scene's robots.
    """

    name: str
    uri: str
    description: str
    tags: tuple[str, ...]


def loaded_offer(reference: str, assembly: Assembly) -> WorldOffer:
    """Return what there is to say of a world that was loaded from a reference, or from a text.

    Args:
        reference: As for `load_scene`; empty if it was a text.
        assembly: What became of it.

    Raises:
        ModelError: The file is gone, or no longer what it was.
    """
    if not reference:
        robots = tuple(robot.name for robot in assembly.config.robots)
        return WorldOffer(name=assembly.config.name, uri="", description="", tags=("text", *robots))
    shipped = shipped_scenes()
    return offer(shipped[reference] if reference in shipped else resolve(reference, Path.cwd()))


def load_world(reference: str) -> Assembly:
    """Load a scene or model, given as for `load_scene`; one without a joint has no robot.

    Unlike the scene that the simulator starts with, it cannot bring plugins.

    Raises:
        ModelError: There is none, or its content is wrong.
    """
    config = load_scene(reference)
    for folder in config.plugins:
        check_loaded(config.path(folder))
    if config.merged or Path(config.robots[0].model).suffix == ".mjb":
        return _assemble(config)
    part = part_from_file(Path(config.robots[0].model), name=config.name)
    has_joints = part.spec is not None and bool(part.spec.joints)
    if has_joints or not isinstance(part.config, ObjectConfig):
        return _assemble(config)
    return assemble_part(part)


def world_from_text(text: str) -> Assembly:
    """Load a world from the text of a scene (YAML), an MJCF or a URDF; it cannot bring plugins.

    Raises:
        ModelError: The text is none of these, or wrong.
    """
    if text.lstrip().startswith(_XML):
        return assemble_part(part_from_text(text, name=root_element(text)[1] or "world"))
    config = scene_from_text(text)
    for folder in config.plugins:
        check_loaded(config.path(folder))
    return _assemble(config)


def no_world() -> Assembly:
    """Return what is simulated when there is no world: nothing."""
    return assemble(SceneConfig(name=NO_WORLD))


def _assemble(config: SceneConfig) -> Assembly:
    """Assemble a scene that was read: a file that is not there is one that the scene names."""
    try:
        return assemble(config)
    except MissingFileError as error:
        raise MissingAssetError(str(error)) from error


def shipped_offers() -> list[WorldOffer]:
    """Return the worlds that come with the package."""
    return [offer(path) for path in (*shipped_scenes().values(), *shipped_worlds())]


def offers(source: str) -> list[WorldOffer]:
    """Return the worlds in a file or a folder and those below it.

    Raises:
        ModelError: There is nothing at the source, or a file that is no world.
    """
    path = resolve(source, Path.cwd())
    if not path.is_dir():
        check_file(path, "source of worlds")
        return [offer(path)]
    found = []
    for file in files_below(path, (*_SCENE_SUFFIXES, *MODEL_SUFFIXES)):
        try:
            found.append(offer(file))
        except UserInputError:
            continue  # a folder may hold other things
    return found


def files_below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files below a folder that end in one of `suffixes`, the first thousand.

    Raises:
        ModelError: The folder cannot be read, or holds too much to be searched.
    """
    try:
        entries = list(islice(folder.rglob("*"), _MOST_ENTRIES + 1))
        if len(entries) > _MOST_ENTRIES:
            raise UserInputError(
                f"there are more than {_MOST_ENTRIES} files and folders below '{folder}'; name a "
                "folder further down"
            )
        found = (path for path in sorted(entries) if path.suffix in suffixes and path.is_file())
        return list(islice(found, _MOST_FILES))
    except OSError as error:
        raise UserInputError(f"'{folder}' cannot be read: {error.strerror}") from error


def offer(path: Path) -> WorldOffer:
    """Return what a file of a scene or a model says of itself, without reading its meshes.

    Raises:
        ModelError: It is no scene nor model.
    """
    uri = shipped_uri(path) or path.as_uri()
    if path.suffix == ".mjb":
        return WorldOffer(name=path.stem, uri=uri, description="", tags=("model",))
    if path.suffix not in (*_SCENE_SUFFIXES, *MODEL_SUFFIXES):
        raise UserInputError(f"'{path}' is no world: a scene is .yaml, a model .xml, .urdf or .mjb")
    text = read_text(path)
    if path.suffix in _SCENE_SUFFIXES:
        tags: tuple[str, ...] = ("scene", *(robot.name for robot in read_scene(path).robots))
    elif root_element(text)[0] in ("mujoco", "robot"):
        tags = ("model",)
    else:
        raise ParseError(f"'{path}' is no model: its first element is neither mujoco nor robot")
    return WorldOffer(name=path.stem, uri=uri, description=remark(text), tags=tags)
