"""Archives of models (``.mjz``, ``.zip``), extracted into a private folder before they are read.

A path can lead through an archive, as ``robot.zip/meshes/base.stl``, and an archive as a whole
stands for its model. MuJoCo gets regular files only, so that all of them are checked as others are.
Archives in archives are not read, by whatever path.
"""

import hashlib
import os
import shutil
import stat
import struct
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import BinaryIO

from mujoco_ros.model.errors import MissingFileError, ParseError, UserInputError
from mujoco_ros.model.file_access import allow_folder, open_file
from mujoco_ros.model.file_cache import user_folder
from mujoco_ros.model.output_files import UNFINISHED
from mujoco_ros.model.reading import note_file
from mujoco_ros.model.scene import limits

SUFFIXES = (".mjz", ".zip")
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}
_INVALID = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, RuntimeError, EOFError)
"""What zipfile raises for invalid files."""
_END, _END_BYTES, _END_64, _END_64_BYTES = b"PK\5\6", 22, b"PK\6\7", 20
_COMMENT_BYTES = 1 << 16
_ENCRYPTED = 1
_BLOCK_BYTES = 1 << 20
_UNUSED_S = 30 * 86400.0  # age after which an extracted archive that is not used is removed
_CACHE_BYTES = 2 * limits.MAX_ARCHIVES_BYTES.at_start
"""Space of all extracted archives, beyond which the longest unused ones are removed."""
_DISK_BLOCK_BYTES = 4096  # space of the smallest file or folder
_LISTED = 10

_extracted: dict[tuple[int, ...], Path] = {}
_archives: dict[Path, Path] = {}
_together: ContextVar[dict[Path, int] | None] = ContextVar("archives_together", default=None)
"""Space of the folders of the archives that are read together."""


@contextmanager
def archives_together() -> Iterator[None]:
    """Limit the size of all archives that this thread reads in the block, as of one model."""
    if _together.get() is not None:
        yield
        return
    token = _together.set({})
    try:
        yield
    finally:
        _together.reset(token)


def is_archive(path: Path) -> bool:
    """Whether a path is a file with a suffix of archives."""
    return path.suffix.lower() in SUFFIXES and os.path.isfile(path)  # False if it is too long


def archive_above(path: Path) -> Path | None:
    """Return the archive that an absolute path leads through; None if there is none."""
    if not any(f"{suffix}/" in str(path).lower() for suffix in SUFFIXES):
        return None
    return next((above for above in reversed(path.parents) if is_archive(above)), None)


def on_disk(path: Path) -> Path:
    """Return the file that an absolute path, which can lead through an archive, stands for."""
    archive = archive_above(path)
    if archive is None:
        return path
    inner = _extract(archive) / path.relative_to(archive)
    if is_archive(inner) or archive_above(inner) is not None:
        raise _nested(path)
    return inner


def model_on_disk(path: Path) -> Path:
    """Return the file that the path of a model stands for; an archive stands for its model.

    The model has a name that MuJoCo searches for, or is the only MJCF at the top of the archive.
    """
    if not is_archive(path):
        return on_disk(path)
    folder, stem = _extract(path), path.stem
    names = ("model.xml", f"{stem}.xml", f"{stem}/{stem}.xml", f"{stem}/model.xml")
    for name in names:
        if (folder / name).is_file():
            return folder / name
    only = list(folder.glob("*.xml"))  # as mujoco.MjSpec.to_zip writes it
    if len(only) == 1:
        return only[0]
    models = sorted(
        str(file.relative_to(folder))
        for kind in ("xml", "urdf")
        for file in folder.rglob(f"*.{kind}")
    )
    listing = ", ".join(models[:_LISTED]) + (", …" if len(models) > _LISTED else "")
    raise MissingFileError(
        f"archive '{path}' has neither {' nor '.join(names)}; name a file in it, as "
        f"'{path.name}/<file>'; it has: {listing or 'no .xml or .urdf file'}"
    )


def named(path: Path) -> Path:
    """Return the path by which clients can name a file, through its archive if it is in one."""
    for folder, archive in list(_archives.items()):  # other threads add some
        if path.is_relative_to(folder):
            return archive / path.relative_to(folder)
    return path


def _extract(archive: Path) -> Path:
    """Return the folder with the files of an archive."""
    archive = Path(os.path.realpath(archive))
    if archive.is_relative_to(os.path.realpath(user_folder("archives"))):
        raise _nested(named(archive))
    if archive.stem in (".", ".."):  # it becomes the name of a folder
        raise ParseError(f"archive '{archive}' has no name before its suffix")
    note_file(archive)
    try:
        with os.fdopen(open_file(archive, "archive"), "rb") as file:
            status = os.fstat(file.fileno())
            times = status.st_mtime_ns, status.st_ctime_ns
            key = (status.st_dev, status.st_ino, status.st_size, *times)
            folder = _extracted.get(key)
            if folder is None or not folder.is_dir():
                _check_end(file, archive)
                digest = hashlib.file_digest(file, "sha256")
                digest.update(archive.stem.encode())
                folder = user_folder("archives") / digest.hexdigest()[:32] / archive.stem
                if not folder.is_dir():
                    _unpack(file, archive, folder)
                _extracted[key] = folder
            os.utime(folder.parent)
            _add_size(archive, folder)
    except OSError as error:
        raise UserInputError(
            f"archive '{archive}' cannot be extracted: {error.strerror or error}"
        ) from error
    _archives[folder] = archive
    allow_folder(folder)
    return folder


def _nested(path: Path) -> ParseError:
    return ParseError(f"'{path}' is an archive in an archive, which is not read")


def _add_size(archive: Path, folder: Path, size: int | None = None) -> None:
    """Reject an archive that makes those read together too large; `size` is its space, if known."""
    together = _together.get()
    if together is None or folder in together:
        return
    together[folder] = _space(folder.parent) if size is None else size
    total = sum(together.values())
    if total > limits.MAX_ARCHIVES_BYTES.value:
        del together[folder]
        what = f"{total} bytes in it and the other archives of the model, extracted"
        raise limits.too_large(f"archive '{archive}'", what, limits.MAX_ARCHIVES_BYTES)


def _check_end(file: BinaryIO, archive: Path) -> None:
    """Reject a list of files that is too long to be read at all."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - _COMMENT_BYTES - _END_BYTES - _END_64_BYTES, 0))
    tail = file.read()
    file.seek(0)
    at = len(tail) - _END_BYTES
    if at < 0 or tail[at : at + 4] != _END or tail[-2:] != b"\0\0":  # it has a comment
        at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise ParseError(f"archive '{archive}' is not a zip file")
    (length,) = struct.unpack_from("<I", tail, at + 12)
    is_64 = tail[max(at - _END_64_BYTES, 0) : at].startswith(_END_64)
    if is_64 or length > limits.MAX_ARCHIVE_DIRECTORY_BYTES:
        what = "a zip64 list of its files" if is_64 else f"{length} bytes in the list of its files"
        raise limits.too_large(f"archive '{archive}'", what, limits.MAX_ARCHIVE_DIRECTORY_BYTES)


def _unpack(file: BinaryIO, archive: Path, folder: Path) -> None:
    """Extract an archive; the folder appears with all of its files, and one that fails never."""
    cache = folder.parent.parent
    cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache, prefix=UNFINISHED) as unfinished:
        target = Path(unfinished) / folder.parent.name
        (target / folder.name).mkdir(mode=0o700, parents=True)
        try:
            with zipfile.ZipFile(file) as content:
                found = list(_checked(content, archive))
                space = _space_of(path for _, path in found)
                space += sum(info.file_size for info, _ in found)
                _add_size(archive, folder, space)
                _remove_unused(cache, space)
                for info, path in found:
                    _write(content, info, target / folder.name / path)
        except UserInputError:
            raise
        except _INVALID as error:
            raise ParseError(f"archive '{archive}' is not a valid zip file: {error}") from error
        with suppress(FileExistsError, OSError):  # another process was faster
            target.rename(folder.parent)
    if not folder.is_dir():
        raise UserInputError(f"archive '{archive}' cannot be extracted to '{folder}'")


def _checked(
    content: zipfile.ZipFile, archive: Path
) -> Iterator[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """Yield the files of an archive with their relative paths, after all were checked."""
    where, found = f"archive '{archive}'", []
    entries = content.infolist()
    if len(entries) > limits.MAX_ARCHIVE_FILES:
        raise limits.too_large(where, f"{len(entries)} files", limits.MAX_ARCHIVE_FILES)
    size = sum(entry.file_size for entry in entries)
    if size > limits.MAX_ARCHIVE_BYTES:
        raise limits.too_large(where, f"{size} bytes after extraction", limits.MAX_ARCHIVE_BYTES)
    taken = set()
    for info in entries:
        name = info.orig_filename
        path = PurePosixPath(name)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if (
            path.is_absolute()
            or ".." in path.parts
            or any(character in name for character in "\\:\0")
        ):
            raise ParseError(f"{where}: '{name}' is not a relative path below the archive")
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            what = "a symbolic link" if kind == stat.S_IFLNK else "not a regular file"
            raise ParseError(f"{where}: '{name}' is {what}; only regular files are read")
        if info.flag_bits & _ENCRYPTED:
            raise ParseError(f"{where}: '{name}' is encrypted")
        if info.compress_type not in _METHODS:
            raise ParseError(
                f"{where}: '{name}' is compressed by method {info.compress_type}; files must be "
                f"{' or '.join(_METHODS.values())}"
            )
        if info.is_dir():
            continue
        if path in taken:
            raise ParseError(f"{where}: it has two files named '{name}'")
        taken.add(path)
        found.append((info, path))
    folders = {folder for _, path in found for folder in path.parents}
    if len(folders) > limits.MAX_ARCHIVE_FILES:
        raise limits.too_large(where, f"{len(folders)} folders", limits.MAX_ARCHIVE_FILES)
    yield from found


def _write(content: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    # At most the size in the list of files is read, and its check sum must match.
    with content.open(info) as source, os.fdopen(descriptor, "wb") as target:
        shutil.copyfileobj(source, target, _BLOCK_BYTES)


def _remove_unused(cache: Path, needed: int = 0) -> None:
    """Remove archives that were not used for long, and the longest unused ones for space [byte]."""
    together = {folder.parent for folder in _together.get() or ()}
    entries = []
    for folder in cache.iterdir():
        with suppress(OSError):  # another process removed it
            entries.append((folder.stat().st_mtime, _space(folder), folder))
    total = needed + sum(space for _, space, _ in entries)
    since = time.time() - _UNUSED_S
    for used, space, folder in sorted(entries):
        if folder in together or (used >= since and total <= _CACHE_BYTES):
            continue
        total -= space
        with suppress(OSError):
            # A removal that is interrupted leaves no archive without some of its files.
            if not folder.name.startswith(UNFINISHED):
                name = f"{UNFINISHED}{folder.name}-{os.getpid()}"
                folder = folder.rename(cache / name)
            shutil.rmtree(folder)


def _space(folder: Path) -> int:
    """Return the space of a folder with all that is in it [byte]."""
    files = [Path(above, name) for above, _, names in os.walk(folder) for name in names]
    return _space_of(files) + sum(file.stat().st_size for file in files)


def _space_of(files: Iterable[Path | PurePosixPath]) -> int:
    """Return the space of empty files and of the folders that they are in [byte]."""
    paths = list(files)
    return _DISK_BLOCK_BYTES * (len(paths) + len({path.parent for path in paths}))
