"""Files that messages and other programs name, for a process that reads them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mujoco_ros.model.file_access import ClientFiles, FileAccess, client_files
from mujoco_ros.model.scene.worlds import client_folders
from mujoco_ros.viewer.clients import ParameterClient


class FileRequest(NamedTuple):
    """A file to read."""

    uri: str  # the file
    files: ClientFiles | None  # the files that may be read; None allows all

    @classmethod
    def of_client(cls, uri: str, access: FileAccess) -> "FileRequest":
        """Return the request for a file, if `access` allows clients to name it."""
        with access.for_client():
            return cls(uri, client_files())


def files_of_clients(parameters: ParameterClient) -> FileAccess:
    """Return the access to the folders that the simulator's parameters name."""

    def folders() -> Iterator[Path]:
        known = parameters.known
        scene, added = known.get("scene"), known.get("client_folders")
        scene_name, named = scene and scene.value, added and added.value
        return client_folders(str(scene_name or ""), named or ())

    return FileAccess(folders, "; the parameter 'client_folders' adds others")
