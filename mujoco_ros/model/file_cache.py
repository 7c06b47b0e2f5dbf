"""A folder of files that can be made again, shared by a user's processes, limited in size."""

import os
import time
from contextlib import suppress
from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import UNFINISHED, OutputFile

LIMIT_BYTES = 512 * 1024 * 1024
_RECENT_S = 24 * 3600.0
"""Files used within this time [s] are kept, because other programs may still read them."""


class FileCache:
    """A folder of files with a suffix, to which several processes of one user may write.

    Beyond a size, files that were not used for a day are removed, the longest unused first.
    """

    def __init__(self, folder: Path, suffix: str, limit_bytes: int | None = None) -> None:
        self.folder = folder  # the folder, which need not exist
        self._suffix = suffix
        self._limit_bytes = limit_bytes

    def find(self, name: str) -> Path | None:
        """Return the file of a name without suffix, which counts as used now."""
        path = self.folder / f"{name}{self._suffix}"
        if not path.is_file():
            return None
        with suppress(PermissionError):
            os.utime(path)
        return path

    def write(self, name: str, content: bytes) -> Path:
        """Write a file, which appears with all of its content."""
        path = self.folder / f"{name}{self._suffix}"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with OutputFile(path, mode=0o600) as output:
            output.file.write(content)
            output.finish()
        if self._limit_bytes is not None:
            self._remove_unused(self._limit_bytes)
        return path

    def _remove_unused(self, limit_bytes: int) -> None:
        files = []
        for path in self.folder.iterdir():
            if path.suffix == self._suffix or path.name.startswith(UNFINISHED):
                with suppress(FileNotFoundError):  # removed by another process
                    status = path.stat()
                    files.append((status.st_mtime, status.st_size, path))
        size = sum(entry[1] for entry in files)
        since = time.time() - _RECENT_S
        for used, length, path in sorted(files):
            if used > since or (size <= limit_bytes and path.suffix == self._suffix):
                continue
            with suppress(OSError):  # a file of another user
                path.unlink(missing_ok=True)
                size -= length


def user_folder(name: str) -> Path:
    """Return a folder of the user's cache, ``$XDG_CACHE_HOME/mujoco_ros/<name>``."""
    return _home("XDG_CACHE_HOME", "~/.cache") / name


def state_folder(name: str) -> Path:
    """Return a folder of what programs remember, ``$XDG_STATE_HOME/mujoco_ros/<name>``."""
    return _home("XDG_STATE_HOME", "~/.local/state") / name


def output_folder(named: str) -> Path:
    """Return the folder of files that clients request; `named` is the parameter `output_folder`."""
    home = Path(os.environ.get("ROS_HOME") or "~/.ros")
    return Path(named or home / "mujoco_ros").expanduser().absolute()


def output_path(folder: Path, name: str, kind: str) -> Path:
    """Return the path of a file that a client names, relative to the folder of such files."""
    if "\0" in name:
        raise UserInputError(f"{kind} {name!r} is not a path: it has a NUL character")
    try:
        return folder / Path(name).expanduser()
    except RuntimeError as error:  # there is no such user
        raise UserInputError(f"{kind} '{name}' is not a path: {error}") from error


def _home(variable: str, default: str) -> Path:
    named = Path(os.environ.get(variable, ""))
    # The XDG specification requires relative paths to be ignored.
    home = named if named.is_absolute() else Path(default).expanduser()
    return home / "mujoco_ros"
