"""Paths and URIs of files, resolved."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

from mujoco_ros.model.archives import archive_above, model_on_disk
from mujoco_ros.model.errors import MissingFileError, UserInputError
from mujoco_ros.model.file_access import check_access
from mujoco_ros.model.packages import is_package_name, package_directories, source_of


def resolve(uri: str, base: Path, packages: Mapping[str, Path] | None = None) -> Path:
    """Return the absolute path of a path, ``file://`` or ``package://`` URI; ``~`` is expanded.

    Among several folders of a package, the folder with the file precedes. A path can lead through
    an archive, and an archive stands for its model. Packages around `base`, the folder of relative
    paths, need not be installed. A file that is not in a package need not exist.
    """
    try:
        candidates = [candidate.resolve() for candidate in _candidates(uri, base, packages)]
        # `exists` raises for invalid names and missing permissions.
        found = (
            candidate
            for candidate in candidates
            if candidate.exists() or archive_above(candidate) is not None
        )
        path = next(found, candidates[0])
        check_access(path, uri)
        path = model_on_disk(path)
        if uri.startswith("package://") and not path.exists():
            listing = ", ".join(map(str, candidates))
            raise MissingFileError(f"'{uri}' does not exist; searched: {listing}")
    except UserInputError:
        raise
    except OSError as error:
        raise UserInputError(f"{uri!r} cannot be opened: {error.strerror}") from error
    except (RuntimeError, ValueError) as error:  # symbolic links in a circle, NUL, unknown ~user
        raise UserInputError(f"{uri!r} is not a path: {error}") from error
    return path


def _candidates(uri: str, base: Path, packages: Mapping[str, Path] | None) -> list[Path]:
    """Return the paths that a URI can stand for, the preferred one first."""
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return [base / Path(spelling).expanduser() for spelling in _spellings(uri)]
    if scheme == "package":
        return _in_packages(uri, rest, base, packages)
    if scheme == "file":
        parts = urlparse(uri)
        if parts.netloc not in ("", "localhost") or not parts.path:
            raise UserInputError(f"'{uri}' is not on this machine; write file:///<absolute path>")
        return [Path(unquote(parts.path))]
    raise UserInputError(
        f"'{uri}': URI scheme '{scheme}' is not supported; use package:// or file://"
    )


def _in_packages(
    uri: str, rest: str, base: Path, packages: Mapping[str, Path] | None
) -> list[Path]:
    candidates, problem = [], None
    for spelling in _spellings(rest):
        package, slash, path = spelling.lstrip("/").partition("/")  # some write package:///
        if not is_package_name(package) or not (slash or spelling[:1] != "/"):
            continue
        try:
            folders = package_directories(package, base, packages)
            candidates += [source_of(folder / path) for folder in folders]
        except MissingFileError as error:
            problem = problem or error
    if candidates:
        return list(dict.fromkeys(candidates))
    if problem is not None:
        raise problem
    raise UserInputError(f"'{uri}' lacks a package name; write package://<package>/<path>")


def _spellings(path: str) -> list[str]:
    """Return a path as it is written, with slashes as outside Windows, and without ``%20``."""
    with_slashes = path.replace("\\", "/")
    return list(dict.fromkeys((path, with_slashes, unquote(with_slashes))))


def check_file(path: Path, kind: str, hint: str = "") -> None:
    """Reject a path that is not a file; `kind` and `hint` begin and end the message."""
    if not path.is_file():
        fault = "is not a file" if path.exists() else "does not exist"
        raise MissingFileError(f"{kind} '{path}' {fault}{hint}")
