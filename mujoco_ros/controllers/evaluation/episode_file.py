"""A file of the episodes of an evaluation, and what its parts must have in common."""

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.episode import Episode
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import OutputFile, locked
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.strict import read_text

Identity = Mapping[str, str]
"""Trial, seed, scene and versions, each as a short text."""
_PATHS = re.compile(r"paths|npaths|nbuffer|\w+_pathadr")
"""Fields of a model that the paths of its files determine."""


def identity_of(trial: Trial, seed: int, assembly: Assembly) -> Identity:
    """Return what all parts of an evaluation have in common; `assembly` is that of its scene."""
    return {"trial": repr(trial), "seed": str(seed), "scene": scene_hash(assembly), **versions()}


def scene_hash(assembly: Assembly) -> str:
    """Return a hash of a scene: its compiled model, and the settings that are not in that.

    Paths of files have no effect: machines differ.

    Raises:
        UserInputError: A profile of hardware, or a file of gains, is missing or invalid.
    """
    content, config = sha256(), assembly.config
    for part in _content(assembly.model):
        content.update(part)
    for robot in config.robots:
        for uri in (robot.gains, robot.srdf):
            content.update(read_text(config.path(uri)).encode() if uri else b"")
        entries = [] if robot.realism is None else robot.realism.entries()
        settings = replace(robot, model="", gains=None, urdf=None, srdf=None, realism=None)
        content.update(repr((settings, entries)).encode())
    content.update(repr((config.cameras, config.lidars, config.extensions)).encode())
    return content.hexdigest()[:16]


def _content(structure: object) -> Iterator[bytes]:
    """Yield names and values of the fields of a structure of MuJoCo that do not concern paths.

    Raises:
        TypeError: A field has a type that this function does not know.
    """
    for name in dir(structure):
        if name.startswith("_") or _PATHS.fullmatch(name):
            continue
        value = getattr(structure, name)
        if isinstance(value, bytes | int | float | np.ndarray):
            yield name.encode()
            yield value if isinstance(value, bytes) else np.asarray(value).tobytes()
        elif type(value).__module__.partition(".")[0] == "mujoco":
            yield from _content(value)
        elif not callable(value):
            raise TypeError(f"field '{name}' of a model is a {type(value).__name__}")


@cache
def versions() -> Identity:
    """Return the version of MuJoCo, and a hash of code, tables and policies of this package."""
    package = Path(__file__).resolve().parents[2]
    code = sha256()
    for file in sorted(it for it in package.rglob("*") if it.suffix in (".py", ".yaml", ".onnx")):
        code.update(file.read_bytes())
    return {"mujoco": mujoco.__version__, "code": code.hexdigest()[:16]}


_SYNC_S = 1.0
"""Longest time for which a power failure can lose episodes [s]."""


class EpisodeFile:
    """Episodes as lines of JSON, after one line that identifies the evaluation.

    The file is created, or replaced, when the first episode is added. From then on each line is
    written when its episode is done, so that an interruption loses only the episodes that are
    running. One process at a time writes into a folder.

    Attributes:
        path: The file.
        done: The episodes in the file, by seed.
    """

    def __init__(self, path: Path, identity: Identity, count: int, *, resume: bool) -> None:
        """Read the file, if it exists.

        Args:
            path: The file; its folder exists.
            identity: That of the evaluation, see `identity_of`.
            count: Number of episodes of the whole evaluation.
            resume: Whether the episodes in an existing file are kept. Else a file that lacks some
                of its episodes is an error, and one with all of them is replaced.

        Raises:
            UserInputError: The file is of another evaluation, or invalid, or another process
                writes into the folder.
            OSError: The file cannot be read.
        """
        self.path, self.done = path, dict[int, Episode]()
        self._header = {**identity, "episodes": count}
        self._file: BinaryIO | None = None
        self._synced = 0.0
        self._folder = locked(path.parent)
        try:
            if path.exists():
                self._continue(identity, count, resume=resume)
        except BaseException:
            os.close(self._folder)
            raise

    def __enter__(self) -> "EpisodeFile":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())
            self._file.close()
        os.close(self._folder)

    def add(self, episode: Episode) -> None:
        """Add an episode; it is in the file when this returns.

        Raises:
            OSError: The file cannot be written.
        """
        self.done[episode.seed] = episode
        if self._file is None:
            self._file = self._create()
            return
        self._file.write(_line(asdict(episode)))
        self._file.flush()
        if time.monotonic() >= self._synced + _SYNC_S:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def _continue(self, identity: Identity, count: int, *, resume: bool) -> None:
        header, episodes = self._read()
        expected = header.pop("episodes")
        if resume:
            for name in sorted({*header, *identity}):
                if header.get(name) != identity.get(name):
                    raise UserInputError(
                        f"{self.path} is of another evaluation: its {name} is {header.get(name)}, "
                        f"here {identity.get(name)}"
                    )
            self.done = episodes
            self._header["episodes"] = max(expected, count)
        elif 0 < len(episodes) < expected:
            raise UserInputError(
                f"{self.path} has {len(episodes)} of {expected} episodes of an interrupted "
                "evaluation; continue it with --resume, choose another --output, or delete the file"
            )

    def _create(self) -> BinaryIO:
        """Replace the file by one with the episodes so far; return it open."""
        with OutputFile(self.path) as output:
            output.file.writelines(map(_line, [self._header, *map(asdict, self.done.values())]))
            output.finish()
        return self.path.open("ab")

    def _read(self) -> tuple[dict[str, Any], dict[int, Episode]]:
        """Return the first line and the episodes by seed.

        An interrupted process may leave a last line without an end, which is left out.
        """
        *lines, _ = self.path.read_bytes().split(b"\n")
        header = self._parsed(lines[0] if lines else b"", 1)
        if not isinstance(header.get("episodes"), int):
            raise UserInputError(f"{self.path} is not a file of episodes: line 1 has no count")
        episodes = (self._episode(line, number) for number, line in enumerate(lines[1:], 2))
        return header, {it.seed: it for it in episodes}

    def _episode(self, line: bytes, number: int) -> Episode:
        values = self._parsed(line, number)
        try:
            for name in ("failures", "planning"):
                values[name] = tuple(values[name])
            return Episode(**values)
        except (KeyError, TypeError) as error:
            raise UserInputError(f"{self.path}, line {number} is not an episode") from error

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except ValueError as error:  # UnicodeDecodeError is one
            raise UserInputError(f"{self.path}, line {number} is not JSON: {error}") from error
        if not isinstance(values, dict):
            raise UserInputError(f"{self.path}, line {number} is not an object of JSON")
        return values


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, default=float).encode() + b"\n"
