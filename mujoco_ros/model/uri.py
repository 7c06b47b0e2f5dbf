"""Where the files named by a scene, a URDF or a launch argument lie on disk."""

import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

from mujoco_ros.model.errors import MissingFileError, UserInputError

_SOURCE_TREE = Path(__file__).resolve().parents[2]


def share_directory() -> Path:
    """Return the folder of `config`, `launch` and `urdf_mjcf`: the source tree or the share."""
    if (_SOURCE_TREE / "package.xml").is_file():
        return _SOURCE_TREE
    return package_directory("mujoco_ros")


def package_directory(package: str) -> Path:
    """Return a ROS package's share folder, as the ament index lays it out.

    Args:
        package: ROS package name.

    Raises:
        ModelError: No prefix on ``AMENT_PREFIX_PATH`` (nor the Python prefix) has the package.
    """
    if package == "mujoco_ros" and (_SOURCE_TREE / "package.xml").is_file():
        return _SOURCE_TREE
    prefixes = [p for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    for prefix in [*prefixes, sys.prefix]:
        share = Path(prefix) / "share" / package
        if share.is_dir():
            return share
    searched = ", ".join([*prefixes, sys.prefix])
    raise UserInputError(f"package '{package}' not found; searched the prefixes: {searched}")


def resolve(uri: str, base: Path) -> Path:
    """Turn a path, ``file://`` or ``package://`` URI into an absolute path (which need not exist).

    Args:
        uri: What the user wrote. ``~`` is expanded.
        base: Folder that relative paths start from.

    Raises:
        ModelError: The scheme is neither ``file`` nor ``package``, the package is unknown, or no
            file could have such a path.
    """
    try:
        path = _resolve(uri, base).resolve()
        path.exists()  # raises for what no file can be called, or what may not be looked at
    except UserInputError:
        raise
    except OSError as error:
        raise UserInputError(f"{uri!r} cannot be opened: {error.strerror}") from error
    except (RuntimeError, ValueError) as error:  # symbolic links in a circle, NUL, unknown ~user
        raise UserInputError(f"{uri!r} is not a path: {error}") from error
    return path


def _resolve(uri: str, base: Path) -> Path:
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return base / Path(uri).expanduser()
    if scheme == "package":
        package, _, path = rest.partition("/")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", package):
            raise UserInputError(f"'{uri}' names no package; write package://<package>/<path>")
        return package_directory(package) / unquote(path)
    if scheme == "file":
        parts = urlparse(uri)
        if parts.netloc not in ("", "localhost") or not parts.path:
            raise UserInputError(f"'{uri}' is not on this machine; write file:///<absolute path>")
        return Path(unquote(parts.path))
    raise UserInputError(
        f"'{uri}': URI scheme '{scheme}' is not supported; use package:// or file://"
    )


def check_file(path: Path, kind: str, hint: str = "") -> None:
    """Refuse a path that is no file.

    Args:
        path: Where the file should be.
        kind: What it should be, e.g. ``"model file"``.
        hint: Put behind the message.

    Raises:
        MissingFileError: There is nothing, or something else, e.g. a folder.
    """
    if not path.is_file():
        fault = "is not a file" if path.exists() else "does not exist"
        raise MissingFileError(f"{kind} '{path}' {fault}{hint}")
