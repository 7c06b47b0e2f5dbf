"""Mesh files for other programs, named by their content."""

import hashlib
import logging
from pathlib import Path

from mujoco_ros.model.file_cache import LIMIT_BYTES, FileCache, user_folder

_LOGGER = logging.getLogger(__name__)


class MeshCache:
    """A folder of STL files, named by their content."""

    def __init__(self, folder: Path, limit_bytes: int | None = None) -> None:
        """Use a folder; the arguments are as for `FileCache`."""
        self._files = FileCache(folder, ".stl", limit_bytes)
        self._warned = False

    @property
    def folder(self) -> Path:
        """Return the folder."""
        return self._files.folder

    def store(self, content: bytes) -> Path | None:
        """Return the path of an STL file; None, with a warning, if it cannot be written."""
        name = hashlib.sha256(content).hexdigest()[:32]
        try:
            path = self._files.find(name)
            if path is not None and path.stat().st_size == len(content):
                return path
            return self._files.write(name, content)
        except OSError as error:
            if not self._warned:
                _LOGGER.warning(
                    "meshes cannot be written to '%s' (%s), so robot_description lacks the shapes "
                    "that have no file; set XDG_CACHE_HOME to a folder that can be written to",
                    self.folder,
                    error.strerror,
                )
            self._warned = True
            return None


def user_cache() -> MeshCache:
    """Return the cache of the user."""
    return MeshCache(user_folder("meshes"), LIMIT_BYTES)
