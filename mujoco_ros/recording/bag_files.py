"""The files of a bag in the file system, and what became of them during the recording."""

import os
from collections.abc import Mapping
from errno import ENOENT
from pathlib import Path
from typing import NamedTuple

from mujoco_ros.recording.metadata import Span

_DESCRIPTORS = Path("/proc/self/fd")


class _Flushed(NamedTuple):
    """Device and inode of a file, and the number of messages that were written into it."""

    device: int
    inode: int
    messages: int


class BagFiles:
    """Detects files that are deleted, moved or replaced while a bag is written.

    An open file can be written after it was deleted: only its name is missing.
    """

    def __init__(self, folder: Path, spans: Mapping[str, Span]) -> None:
        """Check the files in a folder, whose names and messages are in `spans`."""
        self._folder, self._spans = folder.absolute(), spans
        self._flushed: dict[str, _Flushed] = {}

    def check(self) -> None:
        """Register that all messages so far are written.

        Raises:
            OSError: A file has been deleted, moved or replaced.
        """
        for name, span in self._spans.items():
            status = os.stat(self._folder / name)
            known = self._flushed.setdefault(name, _Flushed(status.st_dev, status.st_ino, 0))
            if known[:2] != (status.st_dev, status.st_ino):
                raise FileNotFoundError(ENOENT, "another file has its name", name)
            self._flushed[name] = known._replace(messages=span.count)

    def report(self, problem: str) -> str:
        """Return the problem that ended the recording, and where its messages are.

        The numbers are of the last `check`; more messages may have been written since.
        """
        found: dict[Path, int] = {}
        lost: dict[str, int] = {}
        for name, file in self._flushed.items():
            place = self._place(name, file)
            if place is None:
                lost[name] = file.messages
            else:
                found[place.parent] = found.get(place.parent, 0) + file.messages
        text = problem
        if lost:
            text += f"; {sum(lost.values())} messages are lost with {', '.join(lost)}"
            text += ", which was deleted" if len(lost) == 1 else ", which were deleted"
        for folder, count in found.items():
            text += (
                f"; the messages recorded before, at least {count}, are kept"
                f"{'' if folder == self._folder else f' in {folder}, to which they were moved'}; "
                f"'record --repair {folder}' indexes them"
            )
        return text

    def _place(self, name: str, file: _Flushed) -> Path | None:
        """Return where a file is, as far as it can be found; None if it was deleted."""
        try:
            status = os.stat(self._folder / name)
            if (status.st_dev, status.st_ino) == file[:2]:
                return self._folder / name
        except OSError:
            pass
        for descriptor in _DESCRIPTORS.iterdir():
            try:
                status = descriptor.stat()
                if (status.st_dev, status.st_ino) == file[:2] and status.st_nlink:
                    return descriptor.readlink()
            except OSError:
                continue
        return None
