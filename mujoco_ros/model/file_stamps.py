"""Stamps of the files that a model is read from, by which a change of a file is noticed."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from mujoco_ros.model.errors import ParseError

FileStamp = tuple[int, int, int, int]
"""Inode, size and times of the last changes of content and status, which no program can set back;
of zeros without a file."""


class _Stamps:
    """The stamps of files when they were read, compared with those of an earlier reading."""

    def __init__(self, earlier: Mapping[str, FileStamp] | None = None) -> None:
        self.found: dict[str, FileStamp] = {}
        self._earlier = earlier

    def note(self, path: str) -> None:
        """Note a file that is about to be read."""
        now = _stamp(path)
        noted = self.found.setdefault(path, now)
        if now != (noted if self._earlier is None else self._earlier.get(path)):
            raise ParseError(f"'{path}' changed while it was read; try again")


_CURRENT: ContextVar[_Stamps | None] = ContextVar("file_stamps", default=None)


def note_file(path: Path) -> None:
    """Note a file that is about to be read, for `recorded_files` or `unchanged_files`.

    Raises:
        ParseError: It changed since it was read before.
    """
    stamps = _CURRENT.get()
    if stamps is not None:
        stamps.note(str(path))


@contextmanager
def recorded_files() -> Iterator[Mapping[str, FileStamp]]:
    """Yield the stamps of the files that this thread reads in the block.

    Raises:
        ParseError: At the end: a file changed since it was first read.
    """
    with _noting(_Stamps()) as stamps:
        yield stamps.found
        for path in list(stamps.found):
            stamps.note(path)


@contextmanager
def unchanged_files(earlier: Mapping[str, FileStamp]) -> Iterator[None]:
    """Have this thread read the files of an earlier reading, and no others.

    Raises:
        ParseError: Before a file is read that is not the same as earlier, or at the end if one has
            changed.
    """
    with _noting(_Stamps(earlier)) as stamps:
        yield
        for path in earlier:
            stamps.note(path)


@contextmanager
def _noting(stamps: _Stamps) -> Iterator[_Stamps]:
    token = _CURRENT.set(stamps)
    try:
        yield stamps
    finally:
        _CURRENT.reset(token)


def _stamp(path: str) -> FileStamp:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
