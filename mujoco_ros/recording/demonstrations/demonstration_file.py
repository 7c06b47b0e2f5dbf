"""Files of demonstrations of a task, and the folder that keeps them until there is a dataset.

A file is a compressed sequence of messages: a description as JSON, each frame as a file of numpy
(npz), and an empty one at the end. A message begins with its length in 8 bytes.
"""

import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import UNFINISHED, OutputFile, locked
from mujoco_ros.recording.demonstrations.lerobot_program import exactly, message

STATE, ACTION, GOAL = "observation.state", "action", "observation.environment_state"
IMAGES = "observation.images."
COMMANDS, COMMANDED = "replay.commands", "replay.is_commanded"
QPOS, QVEL, SEED = "replay.qpos", "replay.qvel", "replay.seed"
TIME = "replay.time"
_COMPRESSOR = zstandard.ZstdCompressor(write_checksum=True)


class DemonstrationFile:
    """Writes a file, frame by frame, which appears, complete, with `finish`, or else not at all."""

    def __init__(self, path: Path) -> None:
        """Write into an `OutputFile` with this path."""
        self.path = path  # the file
        # What a dataset has in common for all episodes: features, rate and robot; empty before the
        # first frame
        self.layout: dict[str, Any] = {}
        self._output = OutputFile(path)
        self._description: dict[str, Any] = {}
        self._names: Mapping[str, tuple[str, ...]] = {}

    def __enter__(self) -> "DemonstrationFile":
        file = self._output.__enter__().file
        self._stream = _COMPRESSOR.stream_writer(file, closefd=False)
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self._output.__exit__(kind, error, traceback)

    def describe(
        self,
        *,
        names: Mapping[str, tuple[str, ...]],
        task: str,
        fps: int,
        robot: str,
        source: str = "",
    ) -> None:
        """Set the description, before the first frame; `names` are of a row's elements by feature.

        `source` is what the frames were read from, such as a bag.
        """
        self._names = names
        self._description = {"task": task, "fps": fps, "robot": robot, "source": source}

    def add(self, frame: Mapping[str, np.ndarray]) -> None:
        """Add a frame: values by feature; images have colours of one byte."""
        if not self.layout:
            description = {**self._description, "features": _features(frame, self._names)}
            self.layout = layout_of(description)
            self._send(json.dumps(description).encode())
        content = io.BytesIO()
        columns: dict[str, Any] = dict(frame)
        np.savez(content, **columns)
        self._send(content.getvalue())

    def finish(self) -> None:
        """Complete the file."""
        self._send(b"")
        self._stream.flush(zstandard.FLUSH_FRAME)
        self._output.finish()

    def _send(self, content: bytes) -> None:
        self._stream.write(message(content))


def layout_of(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a description that is the same in all episodes of a dataset."""
    return {name: description[name] for name in ("features", "fps", "robot", "task")}


def read_messages(path: Path) -> Iterator[bytes]:
    """Yield the messages of a file: description, frames; none if it has no frames.

    Raises:
        UserInputError: It is no such file, incomplete or damaged; its check sum is at its end.
        OSError: It cannot be read.
    """
    try:
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
            while length := int.from_bytes(exactly(stream, 8), "big"):
                yield exactly(stream, length)
            stream.read(1)  # the check sum
    except (EOFError, zstandard.ZstdError) as error:
        raise UserInputError(f"{path} is not a complete demonstration: {error}") from error


def _features(
    frame: Mapping[str, np.ndarray], names: Mapping[str, tuple[str, ...]]
) -> dict[str, dict[str, Any]]:
    """Return type, shape and names of each feature, as LeRobot has them, with images as video."""
    found: dict[str, dict[str, Any]] = {}
    for name, values in frame.items():
        is_image = name.startswith(IMAGES)
        own = ["height", "width", "channels"] if is_image else names.get(name)
        found[name] = {
            "dtype": "video" if is_image else values.dtype.name,
            "shape": list(values.shape),
            "names": None if own is None else list(own),
        }
    return found


_SUFFIX = ".episodes"
_SOURCES = "sources.json"
_OWN = re.compile(
    rf"\d{{6,}}\.(?:zst|new)|{re.escape(_SOURCES)}(?:\.new)?|{re.escape(UNFINISHED)}\w+"
)
"""Names of the files of this folder."""


class EpisodeFolder:
    """Numbered files of episodes in a folder beside the dataset, for one process.

    Episodes from one source, such as a bag, belong together: if the source was not read to its end,
    they are deleted when it is read again.
    """

    def __init__(self, dataset: Path, *, resume: bool) -> None:
        """Create the folder for a dataset, or continue it.

        Raises:
            UserInputError: It has other files, or episodes and is not to be continued, or another
                process writes into it.
            OSError: It cannot be created.
        """
        self.path = dataset.with_name(f"{dataset.name}{_SUFFIX}")  # the folder
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
        """Return the layout of the episodes so far; empty without one."""
        descriptions = (_description(path) for path in self.finished)
        return next((layout_of(description) for description in descriptions if description), {})

    def next(self) -> Path:
        """Return the file of another episode."""
        numbers = [int(path.stem) for path in self.path.iterdir() if path.stem.isdecimal()]
        return self.path / f"{max(numbers, default=0) + 1:06}.zst"

    def begin_source(self, source: str, settings: str) -> bool:
        """Return whether a source is to be read; delete its former episodes if it is.

        Raises:
            UserInputError: It has been read with other settings, the text of what else its episodes
                depend on.
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
        """Note that all episodes of a source are in the folder."""
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
        others = sorted(path.name for path in self.path.iterdir() if not _OWN.fullmatch(path.name))
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
