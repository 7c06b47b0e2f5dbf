"""The folders of which clients may name files."""

import os
import site
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.packages import package_shares, share_directory
from mujoco_ros.model.scene.config import scene_path
from mujoco_ros.model.scene.robot_collections import cached_collections


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
