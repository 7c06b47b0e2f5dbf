"""Folders of models: the shipped ones, and the folders of which clients may name files."""

import os
import site
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.packages import package_shares, share_directory
from mujoco_ros.model.scene.config import RobotConfig, read_scene, scene_path, shipped_scenes
from mujoco_ros.model.scene.robot_collections import cached_collections


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
    return sorted(path for path in found if path.parent.name != "worlds")


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
    """Return the configuration of the robot in a file in the first shipped scene that has it."""
    return _robots().get(model.resolve())


def client_folders(scene: str, configured: Iterable[str]) -> Iterator[Path]:
    """Yield the folders of which clients may name files, which need not exist.

    They are those of a parameter, that of the scene, the share folders of packages, the installed
    Python packages, and the caches of robot descriptions.

    Args:
        scene: The scene at the start, as for `load_scene`.
        configured: Folders that the parameter adds.
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
        folder = next((it for it in path.parents if (it / "package.xml").is_file()), path.parent)
        # A scene in the home folder is no reason to open all of it to clients.
        if not Path(os.path.realpath(Path.home())).is_relative_to(os.path.realpath(folder)):
            yield folder
