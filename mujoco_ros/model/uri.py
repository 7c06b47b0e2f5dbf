"""Paths and URIs of files, resolved."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

from mujoco_ros.model.errors import MissingFileError, UserInputError
from mujoco_ros.model.file_access import check_access
from mujoco_ros.model.packages import PACKAGE_NAME, package_directories, package_directory


def resolve(uri: str, base: Path, packages: Mapping[str, Path] | None = None) -> Path:
    """Return the absolute path of a path, ``file://`` or ``package://`` URI.

    Among several folders of a package, that with the file precedes; see `package_directories`.

    Args:
        uri: The path or URI; ``~`` is expanded.
        base: Folder of relative paths, above which packages need not be installed.
        packages: Folders of packages by name.

    Raises:
        ForbiddenFileError: The client of the current request may not name it.
        UserInputError: The scheme or package is unknown, or the path is invalid; the file need
            not exist.
    """
    try:
        path = _resolve(uri, base, packages).resolve()
        check_access(path, uri)
        path.exists()  # raises for invalid names and missing permissions
    except UserInputError:
        raise
    except OSError as error:
        raise UserInputError(f"{uri!r} cannot be opened: {error.strerror}") from error
    except (RuntimeError, ValueError) as error:  # symbolic links in a circle, NUL, unknown ~user
        raise UserInputError(f"{uri!r} is not a path: {error}") from error
    return path


def _resolve(uri: str, base: Path, packages: Mapping[str, Path] | None) -> Path:
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return base / Path(uri).expanduser()
    if scheme == "package":
        package, _, path = unquote(rest).lstrip("/").partition("/")
        if not PACKAGE_NAME.fullmatch(package):
            raise UserInputError(f"'{uri}' lacks a package name; write package://<package>/<path>")
        preferred = package_directory(package, base, packages)
        found = package_directories(package, base, packages)
        return next((it / path for it in found if (it / path).exists()), preferred / path)
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
