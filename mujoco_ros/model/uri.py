"""Where the files named by a scene, a URDF or a launch argument lie on disk."""

import os
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

from mujoco_ros.model.errors import ModelError

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
    raise ModelError(f"package '{package}' not found; searched the prefixes: {searched}")


def resolve(uri: str, base: Path) -> Path:
    """Turn a path, ``file://`` or ``package://`` URI into an absolute path (which need not exist).

    Args:
        uri: What the user wrote. ``~`` is expanded.
        base: Folder that relative paths start from.

    Raises:
        ModelError: The scheme is neither ``file`` nor ``package``, or the package is unknown.
    """
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return (base / Path(uri).expanduser()).resolve()
    if scheme == "package":
        package, _, path = rest.partition("/")
        return (package_directory(package) / unquote(path)).resolve()
    if scheme == "file":
        return Path(unquote(urlparse(uri).path)).resolve()
    raise ModelError(f"'{uri}': URI scheme '{scheme}' is not supported; use package:// or file://")
