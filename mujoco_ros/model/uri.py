"""Paths and URIs of files, resolved."""

import os
import re
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

from mujoco_ros.model.errors import MissingFileError, UserInputError

_SOURCE_TREE = Path(__file__).resolve().parents[2]


def share_directory() -> Path:
    """Return the folder of `config`, `launch` and `urdf_mjcf`: source tree or share folder."""
    if (_SOURCE_TREE / "package.xml").is_file():
        return _SOURCE_TREE
    return package_directory("mujoco_ros")


def package_directory(package: str) -> Path:
    """Return the share folder of a ROS package, below ``AMENT_PREFIX_PATH`` or Python's prefix."""
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
    """Return the absolute path of a path, ``file://`` or ``package://`` URI.

    Args:
        uri: The path or URI; ``~`` is expanded.
        base: Folder of relative paths.

    Raises:
        UserInputError: The scheme or package is unknown, or the path is invalid; the file need
            not exist.
    """
    try:
        path = _resolve(uri, base).resolve()
        path.exists()  # raises for invalid names and missing permissions
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
            raise UserInputError(f"'{uri}' lacks a package name; write package://<package>/<path>")
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
    """Reject a path that is not a file.

    Args:
        path: The path.
        kind: Kind of file in the message, e.g. ``"model file"``.
        hint: End of the message.
    """
    if not path.is_file():
        fault = "is not a file" if path.exists() else "does not exist"
        raise MissingFileError(f"{kind} '{path}' {fault}{hint}")
