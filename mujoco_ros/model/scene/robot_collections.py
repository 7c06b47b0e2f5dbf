"""Robots of installed Python packages and of caches on this machine, by name."""

import logging
import os
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from mujoco_ros.model.errors import MissingFileError, UserInputError, unknown
from mujoco_ros.model.file_access import read_file
from mujoco_ros.model.naming import root_element

_LOGGER = logging.getLogger(__name__)

MENAGERIE = "menagerie"
"""Collection of the models that the packages mujoco-menagerie and robot_descriptions cached."""

_REFERENCE = re.compile(r"(?P<collection>[A-Za-z][\w.-]*):(?P<robot>[A-Za-z0-9][\w./-]*)")
# Folders named after what is in them instead of after a robot.
_GENERIC = {"mjcf", "model", "models", "robot", "robots", "urdf", "urdfs", "xml", "share", "assets"}
_SUFFIX = re.compile(r"(_descriptions?|_data|-[0-9a-f]{16})$")
_HEADER_CHARACTERS = 4096


def split_reference(reference: str) -> tuple[str, str] | None:
    """Return collection and robot of ``<collection>:<robot>``; None for another reference."""
    found = _REFERENCE.fullmatch(reference)
    return (found["collection"], found["robot"]) if found else None


def find_robot(collection: str, robot: str) -> Path:
    """Return the model of a robot.

    A collection is an installed package with models, such as ``example-robot-data``, a folder in
    the cache of robot_descriptions, or ``menagerie``. A robot is a model file without its suffix,
    and without ``_robot``, or the folder of a robot, whose first model is taken if none has its
    name.
    """
    files = sorted(set(_model_files(collection)))
    if not files:
        cached = ", ".join(map(str, _cached(collection)))
        raise MissingFileError(
            f"no robots of '{collection}' are on this machine: it is not an installed Python "
            f"package with models, and no models are in {cached}"
        )
    names = [path.stem for path in files]
    by_name = {
        path.stem if names.count(path.stem) == 1 else f"{folder_name(path)}/{path.stem}": path
        for path in files
    }
    for name in (robot, f"{robot}_robot"):
        if name in by_name:
            return by_name[name]
    in_folder = [path for path in files if folder_name(path) == robot and path.stem != "scene"]
    if not in_folder:
        raise unknown("robot", robot, by_name, where=collection)
    chosen = next((path for path in in_folder if path.stem in robot), in_folder[0])
    if len(in_folder) > 1:
        others = ", ".join(path.stem for path in in_folder if path != chosen)
        _LOGGER.info("%s:%s is '%s'; others: %s", collection, robot, chosen, others)
    return chosen


def _model_files(collection: str) -> Iterator[Path]:
    try:
        files = metadata.files(collection) or []
    except (metadata.PackageNotFoundError, ValueError):
        files = []
    for file in files:
        if file.suffix.lower() in (".urdf", ".xml") and _is_model(path := Path(str(file.locate()))):
            yield path.resolve()
    for folder in _cached(collection):
        for path in folder.rglob("*"):
            if path.suffix.lower() in (".urdf", ".xml") and _is_model(path):
                yield path


def _cached(collection: str) -> list[Path]:
    """Return where mujoco-menagerie and robot_descriptions keep a collection."""
    described, menagerie = cached_collections()
    if collection != MENAGERIE:
        return [described / collection]
    return [menagerie / "models", described / "mujoco_menagerie"]


def cached_collections() -> tuple[Path, Path]:
    """Return the caches of robot_descriptions and of mujoco-menagerie, which need not exist."""
    default = Path.home() / ".cache" / "robot_descriptions"
    described = Path(os.environ.get("ROBOT_DESCRIPTIONS_CACHE") or default).expanduser()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return described, Path(os.environ.get("MENAGERIE_CACHE_DIR") or home / "mujoco_menagerie")


def _is_model(path: Path) -> bool:
    if path.suffix.lower() == ".urdf":
        return path.is_file()
    try:
        header = read_file(path, first=_HEADER_CHARACTERS).decode(errors="replace")
    except UserInputError:
        return False
    return root_element(header)[0] == "mujoco"


def folder_name(path: Path) -> str:
    """Return the name of the robot's folder: ``talos`` for ``talos_data/robots/full.urdf``."""
    folder = next(above for above in path.parents if above.name not in _GENERIC)
    return _SUFFIX.sub("", folder.name)
