"""Folder with the files of episodes, until they are written into a dataset."""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations.demonstration_file import layout_of, read_messages

_SUFFIX = ".episodes"


class EpisodeFolder:
    """Numbered files of episodes in a folder beside that of the dataset.

    Attributes:
        path: The folder.
    """

    def __init__(self, dataset: Path, *, resume: bool) -> None:
        """Create the folder for a dataset, or continue it.

        Raises:
            UserInputError: It has episodes and is not to be continued.
            OSError: It cannot be created.
        """
        self.path = dataset.with_name(f"{dataset.name}{_SUFFIX}")
        self.path.mkdir(parents=True, exist_ok=True)
        if (count := len(self.finished)) and not resume:
            raise UserInputError(
                f"'{self.path}' has {count} episodes that are in no dataset yet; --resume continues"
            )

    @property
    def finished(self) -> list[Path]:
        """The files of complete episodes, in order."""
        return sorted(self.path.glob("*.zst"))

    def layout(self) -> dict[str, Any]:
        """Return the layout of the episodes so far; empty without one.

        Raises:
            UserInputError: A file is not one of an episode.
        """
        for path in self.finished:
            for content in read_messages(path):
                return layout_of(json.loads(content))
        return {}

    def next(self) -> Path:
        """Return the file of another episode."""
        numbers = [int(it.stem) for it in self.path.iterdir() if it.stem.isdecimal()]
        return self.path / f"{max(numbers, default=0) + 1:06}.zst"

    def delete_if_empty(self) -> None:
        """Delete the folder unless it has files."""
        with suppress(OSError):
            self.path.rmdir()

    def delete(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
