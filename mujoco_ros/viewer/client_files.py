"""The files that messages and responses may name: as those that clients of the simulator name."""

from collections.abc import Iterator
from pathlib import Path

from mujoco_ros.model.file_access import FileAccess
from mujoco_ros.model.scene.client_folders import client_folders
from mujoco_ros.viewer.clients import ParameterClient


def files_of_clients(parameters: ParameterClient) -> FileAccess:
    """Return the access to the folders that the simulator's parameters name."""

    def folders() -> Iterator[Path]:
        known = parameters.known
        scene, added = known.get("scene"), known.get("client_folders")
        scene_name, named = scene and scene.value, added and added.value
        return client_folders(str(scene_name or ""), named or ())

    return FileAccess(folders, "; the parameter 'client_folders' adds others")
