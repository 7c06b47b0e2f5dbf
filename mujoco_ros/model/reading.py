"""Reading a model twice: a later reading gets the same files, and what was computed from them."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from mujoco_ros.model.errors import ParseError

T = TypeVar("T")
FileStamp = tuple[int, int, int, int]
"""Inode, size and times of the last changes of content and status, which no program can set back;
of zeros without a file."""


@dataclass(slots=True)
class Reading:
    """What was read, and computed from it; another process can repeat it."""

    # Stamps of the files when they were read, by path
    stamps: dict[str, FileStamp] = field(default_factory=dict)
    # Names and results of `computed_once`, in order
    results: list[tuple[str, Any]] = field(default_factory=list)


class _Current:
    """The reading in progress, which repeats the first one if there was one."""

    def __init__(self, first: Reading | None = None) -> None:
        self.reading = Reading()
        self._stamps = None if first is None else first.stamps
        self._results = None if first is None else iter(first.results)

    def note(self, path: str) -> None:
        now = _stamp(path)
        noted = self.reading.stamps.setdefault(path, now)
        if now != (noted if self._stamps is None else self._stamps.get(path)):
            raise ParseError(f"'{path}' changed while it was read; try again")

    def result(self, name: str, compute: Callable[[], T]) -> T:
        if self._results is not None:
            computed, known = next(self._results, ("", None))
            if computed == name:
                return cast(T, known)
            self._results = iter(())  # the others may belong to another element
        result = compute()
        self.reading.results.append((name, result))
        return result


_CURRENT: ContextVar[_Current | None] = ContextVar("reading", default=None)


def note_file(path: Path) -> None:
    """Note a file that is about to be read, and reject one that has changed since it was read."""
    current = _CURRENT.get()
    if current is not None:
        current.note(str(path))


def computed_once(name: str, compute: Callable[[], T]) -> T:
    """Return a result that can be pickled; a repeated reading gets the result of the first one.

    Both readings compute the same names in the same order, from noted files and nothing else.
    """
    current = _CURRENT.get()
    return compute() if current is None else current.result(name, compute)


@contextmanager
def recorded_reading() -> Iterator[Reading]:
    """Yield the record of what this thread reads in the block; no file may change in it."""
    with _reading(_Current()) as current:
        yield current.reading
        for path in list(current.reading.stamps):
            current.note(path)


@contextmanager
def repeated_reading(first: Reading) -> Iterator[None]:
    """Have this thread read the files of an earlier reading, which are the same, and no others."""
    with _reading(_Current(first)) as current:
        yield
        for path in first.stamps:
            current.note(path)


@contextmanager
def _reading(current: _Current) -> Iterator[_Current]:
    token = _CURRENT.set(current)
    try:
        yield current
    finally:
        _CURRENT.reset(token)


def _stamp(path: str) -> FileStamp:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
