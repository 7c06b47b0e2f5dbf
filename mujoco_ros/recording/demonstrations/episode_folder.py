"""Folder with the files of episodes, until they are written into a dataset."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import UNFINISHED, OutputFile, locked
from mujoco_ros.recording.demonstrations.demonstration_file import layout_of, read_messages

_SUFFIX = ".episodes"
_SOURCES = "sources.json"
_OWN = re.compile(
    rf"\d{{6,}}\.(?:zst|new)|{re.escape(_SOURCES)}(?:\.new)?|{re.escape(UNFINISHED)}\w+"
)
"""Names of the files of this folder."""


class EpisodeFolder:
    """Numbered files of episodes in a folder beside that of the dataset, for one process.

    Episodes from a source, such as a bag, belong together: those of a source that was not read to
    its end are deleted when it is read again.

    Attributes:
        path: The folder.
    """

    def __init__(self, dataset: Path, *, resume: bool) -> None:
        """Create the folder for a dataset, or continue it.

        Raises:
            UserInputError: It has other files, or episodes and is not to be continued, or another
                process writes into it.
            OSError: It cannot be created.
        """
        self.path = dataset.with_name(f"{dataset.name}{_SUFFIX}")
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock = locked(self.path)
        try:
            self._check(resume=resume)
        except BaseException:
            os.close(self._lock)
            raise
        for unfinished in (*self.path.glob(f"{UNFINISHED}*"), *self.path.glob("*.new")):
            unfinished.unlink()
        if not self.finished:
            self._sources_file.unlink(missing_ok=True)

    @property
    def finished(self) -> list[Path]:
        """The files of complete episodes, in order."""
        return sorted(self.path.glob("*.zst"))

    def layout(self) -> dict[str, Any]:
        """Return the layout of the episodes so far; empty without one.

        Raises:
            UserInputError: A file is not one of an episode.
        """
        descriptions = (_description(path) for path in self.finished)
        return next((layout_of(it) for it in descriptions if it), {})

    def next(self) -> Path:
        """Return the file of another episode."""
        numbers = [int(it.stem) for it in self.path.iterdir() if it.stem.isdecimal()]
        return self.path / f"{max(numbers, default=0) + 1:06}.zst"

    def begin_source(self, source: str, settings: str) -> bool:
        """Return whether a source is to be read; delete its former episodes if it is.

        Args:
            source: Name of the source; the descriptions of its episodes have it.
            settings: What else its episodes depend on, as text.

        Raises:
            UserInputError: It has been read with other settings.
            OSError: An episode cannot be deleted.
        """
        before = self._sources.get(source)
        if before == settings:
            return False
        if before is not None:
            raise UserInputError(
                f"'{self.path}' has the episodes of '{source}' with '{before}', not '{settings}'"
            )
        for path in self.finished:
            if _description(path).get("source") == source:
                path.unlink()
        return True

    def end_source(self, source: str, settings: str) -> None:
        """Note that all episodes of a source are in the folder.

        Raises:
            OSError: The note cannot be written.
        """
        with OutputFile(self._sources_file) as output:
            output.file.write(json.dumps({**self._sources, source: settings}).encode())
            output.finish()

    def close(self) -> None:
        """Let other processes write; delete the folder if it has no episode."""
        if not self.finished:
            self.delete()
        os.close(self._lock)

    def delete(self) -> None:
        """Delete the files of this folder, and the folder unless it has others."""
        with suppress(OSError):
            for path in self.path.iterdir():
                if _OWN.fullmatch(path.name):
                    path.unlink()
            self.path.rmdir()

    @property
    def _sources_file(self) -> Path:
        return self.path / _SOURCES

    @property
    def _sources(self) -> dict[str, str]:
        """Settings of the sources that were read to their end."""
        try:
            found = json.loads(self._sources_file.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise UserInputError(f"'{self._sources_file}' is not JSON: {error}") from error
        if not isinstance(found, dict):
            raise UserInputError(f"'{self._sources_file}' is not an object of JSON")
        return found

    def _check(self, *, resume: bool) -> None:
        others = sorted(it.name for it in self.path.iterdir() if not _OWN.fullmatch(it.name))
        if others:
            raise UserInputError(
                f"'{self.path}' is needed for the episodes, but it has other files, such as "
                f"'{others[0]}'; name another dataset"
            )
        if (count := len(self.finished)) and not resume:
            raise UserInputError(
                f"'{self.path}' has {count} episodes that are in no dataset yet; --resume continues"
            )


def _description(path: Path) -> dict[str, Any]:
    """Return the description of an episode; empty if it has no frames."""
    try:
        found: dict[str, Any] = json.loads(next(read_messages(path), b"{}"))
    except ValueError as error:
        raise UserInputError(f"{path} is damaged: its description is not JSON: {error}") from error
    return found
