"""Share folders of ROS packages, installed or in a source tree."""

import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from mujoco_ros.model.errors import MissingFileError, UserInputError
from mujoco_ros.model.file_access import LARGEST_TEXT, read_file

_SOURCE_TREE = Path(__file__).resolve().parents[2]
_WHEELS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix"
"""Prefix of wheels that cmeel has built, such as Pinocchio and example-robot-data."""
_MANIFEST_NAME = re.compile(r"<name>\s*([^<]+?)\s*</name>")
_MANIFESTS = ("package.xml", "manifest.xml")
_IGNORE = ("CATKIN_IGNORE", "COLCON_IGNORE", "AMENT_IGNORE", "rospack_nosubdirs")
_crawled: dict[tuple[Path, str], Path] = {}
"""Packages that were found below folders."""


def is_package_name(name: str) -> bool:
    """Whether a text can be the name of a package: that of a folder, as exporters of CAD write."""
    return name not in ("", ".", "..") and name.isprintable() and not {"/", "\\"} & set(name)


def share_directory() -> Path:
    """Return the folder of `config`, `launch` and `urdf_mjcf`: source tree or share folder."""
    return package_directory("mujoco_ros")


def package_directory(
    package: str, above: Path | None = None, packages: Mapping[str, Path] | None = None
) -> Path:
    """Return the first folder of `package_directories`."""
    return package_directories(package, above, packages)[0]


def package_directories(
    package: str, above: Path | None = None, packages: Mapping[str, Path] | None = None
) -> list[Path]:
    """Return the existing folders of a package, the preferred one first.

    A package around the folder `above`, beside one of the folders above it, or in the same ``src``
    of a workspace, need not be installed. The folders of `packages`, by name, precede all others.
    """
    if not is_package_name(package):
        raise UserInputError(f"'{package}' is not the name of a package")
    folders = [packages[package]] if packages and package in packages else []
    if package == "mujoco_ros" and (_SOURCE_TREE / "package.xml").is_file():
        folders.append(_SOURCE_TREE)
    folders += [prefix / "share" / package for prefix in (*_prefixes(), _WHEELS)]
    for folder in (*_source_folders(), *((above, *above.parents) if above is not None else ())):
        folders.append(folder if _is_package(folder, package) else folder / package)
    found = [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
    if not found:
        workspaces = [folder for folder in above.parents if folder.name == "src"] if above else []
        roots = (*_source_folders(), *workspaces[:1])
        found = [place for root in roots if (place := _crawl(root, package)) is not None]
    if not found:
        searched = [str(folder) for folder in _prefixes()]
        searched += [f"{folder} (ROS_PACKAGE_PATH)" for folder in _source_folders()]
        searched += [f"the folders above {above}"] if above is not None else []
        raise MissingFileError(
            f"package '{package}' not found; searched: {', '.join(searched)}; source its "
            "workspace, or add its folder to ROS_PACKAGE_PATH, or to `packages` in a scene file"
        )
    return found


def _crawl(root: Path, package: str) -> Path | None:
    """Return the package below a folder, as rospack and colcon find it: by its manifest."""
    known = _crawled.get((root, package))
    if known is not None and _is_package(known, package):
        return known
    for place, folders, files in os.walk(root):
        if any(name in files for name in (*_MANIFESTS, *_IGNORE)):
            folders.clear()  # there are no packages in packages
            if not any(name in files for name in _IGNORE) and _is_package(Path(place), package):
                return _crawled.setdefault((root, package), Path(place))
        folders[:] = [name for name in folders if not name.startswith(".")]
    return None


def _is_package(folder: Path, package: str) -> bool:
    """Whether a folder has the name of a package, or its ``package.xml``, as a clone may have."""
    if folder.name == package:
        return True
    with suppress(UserInputError, UnicodeDecodeError):
        manifest = read_file(folder / "package.xml", largest=LARGEST_TEXT).decode()
        named = _MANIFEST_NAME.search(manifest)
        return named is not None and named.group(1) == package
    return False


def source_of(path: Path) -> Path:
    """Return the file in a source tree that is installed as a missing file of its package.

    CMake installs ``description/urdf/arm.xacro`` as ``urdf/arm.xacro``.
    """
    if path.exists():
        return path
    for above in path.parents:
        if (above / "package.xml").is_file():
            rest = path.relative_to(above)
            found = (each / rest for each in sorted(above.iterdir()) if (each / rest).is_file())
            return next(found, path)
    return path


def package_shares() -> Iterator[Path]:
    """Yield the folders of all packages: shares of prefixes, and source trees.

    They include the sources of packages whose share folders have links to them, as ``colcon build
    --symlink-install`` makes them.
    """
    for prefix in _prefixes():
        yield prefix / "share"
        with suppress(OSError):
            for package in os.scandir(prefix / "share"):
                manifest = Path(package.path) / "package.xml"
                if manifest.is_symlink():
                    yield manifest.resolve().parent
    yield from _source_folders()


def _prefixes() -> list[Path]:
    """Return where packages are installed: ``AMENT_PREFIX_PATH``, then Python's prefix."""
    return [*_folders("AMENT_PREFIX_PATH"), Path(sys.prefix)]


def _source_folders() -> list[Path]:
    return _folders("ROS_PACKAGE_PATH")


def _folders(variable: str) -> list[Path]:
    return [Path(folder) for folder in os.environ.get(variable, "").split(os.pathsep) if folder]
