"""Mesh files that are written for other programs to read, each once, named by its content."""

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
"""Files that were asked for since then may still have to be read by someone."""
_UNFINISHED = ".unfinished-"


class MeshCache:
    """A folder of mesh files.

    A file is there completely or not at all, whoever else writes to the folder at the same time.

    Attributes:
        folder: Where the files are.
    """

    def __init__(self, folder: Path, limit_bytes: int | None = None) -> None:
        """Write to `folder`, which need not exist.

        Args:
            folder: Where the files go.
            limit_bytes: Size beyond which files that nobody has asked for since yesterday are
                removed, the longest unused first; None keeps everything.
        """
        self.folder = folder
        self._limit_bytes = limit_bytes
        self._complained = False

    def keep(self, content: bytes) -> Path | None:
        """Return the STL file with this content, written if it is not there yet.

        Returns:
            Its path; None, with a warning, if the folder cannot be written to.
        """
        path = self.folder / f"{hashlib.sha256(content).hexdigest()[:32]}.stl"
        try:
            if path.is_file() and path.stat().st_size == len(content):
                with suppress(PermissionError):
                    os.utime(path)
                return path
            self._write(path, content)
        except OSError as error:
            if not self._complained:
                _LOGGER.warning(
                    "meshes cannot be written to '%s' (%s), so robot_description lacks the shapes "
                    "that have no file; set XDG_CACHE_HOME to a folder that can be written to",
                    self.folder,
                    error.strerror,
                )
            self._complained = True
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
            self._tidy(self._limit_bytes)

    def _tidy(self, limit_bytes: int) -> None:
        files = []
        for path in self.folder.iterdir():
            if path.suffix == ".stl" or path.name.startswith(_UNFINISHED):
                with suppress(FileNotFoundError):  # another process tidies as well
                    status = path.stat()
                    files.append((status.st_mtime, status.st_size, path))
        size = sum(entry[1] for entry in files)
        since = time.time() - _RECENT_S
        for used, length, path in sorted(files):
            if used > since or (size <= limit_bytes and path.suffix == ".stl"):
                continue
            with suppress(OSError):  # another user's, who has written to this folder as well
                path.unlink(missing_ok=True)
                size -= length


def user_cache() -> MeshCache:
    """Return the user's: ``mujoco_ros/meshes`` in the folder that XDG_CACHE_HOME names."""
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The specification of that variable has relative paths ignored.
    home = named if named.is_absolute() else Path("~/.cache").expanduser()
    return MeshCache(home / "mujoco_ros" / "meshes", _LIMIT_BYTES)
