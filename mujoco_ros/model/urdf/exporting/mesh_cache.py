"""Mesh files for other programs, named by their content."""

import hashlib
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

_LOGGER = logging.getLogger(__name__)

_LIMIT_BYTES = 512 * 1024 * 1024
_RECENT_S = 24 * 3600.0
"""Files used within this time [s] are kept, because other programs may still read them."""
_UNFINISHED = ".unfinished-"


class MeshCache:
    """A folder of mesh files, to which several processes may write; files appear atomically.

    Attributes:
        folder: The folder.
    """

    def __init__(self, folder: Path, limit_bytes: int | None = None) -> None:
        """Use a folder, which need not exist.

        Args:
            folder: The folder.
            limit_bytes: Size beyond which files that were not used for a day are removed, the
                longest unused first; None is no limit.
        """
        self.folder = folder
        self._limit_bytes = limit_bytes
        self._warned = False

    def store(self, content: bytes) -> Path | None:
        """Return the path of an STL file; None, with a warning, if it cannot be written."""
        path = self.folder / f"{hashlib.sha256(content).hexdigest()[:32]}.stl"
        try:
            if path.is_file() and path.stat().st_size == len(content):
                with suppress(PermissionError):
                    os.utime(path)
                return path
            self._write(path, content)
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
        return path

    def _write(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=self.folder, prefix=_UNFINISHED, delete=False) as file:
            unfinished = Path(file.name)
            try:
                file.write(content)
                file.flush()
                unfinished.chmod(0o644)  # other users' programs may read it
                unfinished.replace(path)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
        if self._limit_bytes is not None:
            self._remove_unused(self._limit_bytes)

    def _remove_unused(self, limit_bytes: int) -> None:
        files = []
        for path in self.folder.iterdir():
            if path.suffix == ".stl" or path.name.startswith(_UNFINISHED):
                with suppress(FileNotFoundError):  # removed by another process
                    status = path.stat()
                    files.append((status.st_mtime, status.st_size, path))
        size = sum(entry[1] for entry in files)
        since = time.time() - _RECENT_S
        for used, length, path in sorted(files):
            if used > since or (size <= limit_bytes and path.suffix == ".stl"):
                continue
            with suppress(OSError):  # a file of another user
                path.unlink(missing_ok=True)
                size -= length


def user_cache() -> MeshCache:
    """Return the cache of the user, ``$XDG_CACHE_HOME/mujoco_ros/meshes``."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification requires relative paths to be ignored.
    home = named if named.is_absolute() else Path("~/.cache").expanduser()
    return MeshCache(home / "mujoco_ros" / "meshes", _LIMIT_BYTES)
