"""File of one demonstration of a task: observations, commands and images at a fixed rate.

It is a compressed sequence of messages: a description as JSON, each frame as a file of numpy (npz),
and an empty one at the end. A message begins with its length in 8 bytes.
"""

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import zstandard

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import OutputFile

STATE, ACTION, GOAL = "observation.state", "action", "observation.environment_state"
IMAGES = "observation.images."
COMMANDS, COMMANDED = "replay.commands", "replay.is_commanded"
QPOS, QVEL, SEED = "replay.qpos", "replay.qvel", "replay.seed"
TIME = "replay.time"
_COMPRESSOR = zstandard.ZstdCompressor(write_checksum=True)
_LARGEST = 1 << 28
"""Bytes of a message; a damaged file may seem to have more."""


class DemonstrationFile:
    """Writes a file, frame by frame. It appears, complete, with `finish`, and otherwise not at all.

    Attributes:
        path: The file.
        layout: What a dataset has in common for all episodes: features, rate and robot; empty
            before the first frame.
    """

    def __init__(self, path: Path) -> None:
        """Write into an `OutputFile` with this path."""
        self.path = path
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
        """Set the description, before the first frame.

        Args:
            names: Names of the elements of a row, by feature.
            task: What is done, as text.
            fps: Frames a second.
            robot: Name of the robot, or names of several.
            source: What the frames were read from, such as a bag.
        """
        self._names = names
        self._description = {"task": task, "fps": fps, "robot": robot, "source": source}

    def add(self, frame: Mapping[str, np.ndarray]) -> None:
        """Add a frame: values by feature; those of `IMAGES` are colours of one byte."""
        if not self.layout:
            description = {**self._description, "features": _features(frame, self._names)}
            self.layout = layout_of(description)
            self._send(json.dumps(description).encode())
        content = io.BytesIO()
        np.savez(content, **frame)  # type: ignore[arg-type]
        self._send(content.getvalue())

    def finish(self) -> None:
        """Complete the file.

        Raises:
            OSError: It cannot be written.
        """
        self._send(b"")
        self._stream.flush(zstandard.FLUSH_FRAME)
        self._output.finish()

    def _send(self, content: bytes) -> None:
        self._stream.write(message(content))


def layout_of(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a description that is the same in all episodes of a dataset."""
    return {name: description[name] for name in ("features", "fps", "robot", "task")}


def message(content: bytes) -> bytes:
    """Return content with its length before it."""
    return len(content).to_bytes(8, "big") + content


def read_messages(path: Path) -> Iterator[bytes]:
    """Yield the messages of a file: description, frames; none if it has no frames.

    Raises:
        UserInputError: It is no such file, incomplete or damaged; its check sum is at its end.
        OSError: It cannot be read.
    """
    try:
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
            while length := int.from_bytes(_exactly(stream, 8), "big"):
                yield _exactly(stream, length)
            stream.read(1)  # the check sum
    except (EOFError, zstandard.ZstdError) as error:
        raise UserInputError(f"{path} is not a complete demonstration: {error}") from error


def _exactly(stream: BinaryIO, count: int) -> bytes:
    content = stream.read(min(count, _LARGEST))
    if len(content) < count:
        raise EOFError("it ends early")
    return content


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
