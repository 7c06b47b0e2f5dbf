"""A file of the episodes of an evaluation, to which each is added when it is done."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import mujoco

from mujoco_ros.controllers.evaluation.episode import Episode
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.model.errors import UserInputError

Identity = Mapping[str, str]
"""What two parts of an evaluation must have in common."""


class EpisodeFile:
    """Episodes as lines of JSON, after one line that identifies the evaluation.

    A line is written when its episode is done, so that an interruption loses only the episodes
    that are running.

    Attributes:
        path: The file.
        done: The episodes in the file.
    """

    def __init__(self, path: Path, identity: Identity, count: int, *, resume: bool) -> None:
        """Create the file, or continue it.

        Args:
            path: The file.
            identity: That of the evaluation, see `identity_of`.
            count: Number of episodes of the whole evaluation.
            resume: Whether the episodes in an existing file are kept. Else a file without all of
                its episodes is an error, and one with them is replaced.

        Raises:
            UserInputError: The file is of another evaluation, or invalid.
            OSError: The file cannot be read or written.
        """
        self.path, self.done = path, list[Episode]()
        if path.exists():
            kept, expected = self._read(identity if resume else None)
            if resume:
                self.done = kept
            elif len(kept) < expected:
                raise UserInputError(
                    f"{path} has {len(kept)} of {expected} episodes of an interrupted evaluation; "
                    "continue it with --resume, choose another --output, or delete the file"
                )
        self._begin({**identity, "episodes": count})

    def __enter__(self) -> "EpisodeFile":
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()

    def add(self, episode: Episode) -> None:
        """Add an episode; it is in the file when this returns."""
        self._file.write(_line(asdict(episode)))
        self._file.flush()
        self.done.append(episode)

    def _begin(self, header: Mapping[str, Any]) -> None:
        """Replace the file by one with these episodes, and open it."""
        new = self.path.with_suffix(".new")
        text = "".join(map(_line, [header, *map(asdict, self.done)]))
        new.write_text(text, encoding="utf-8")
        os.replace(new, self.path)
        self._file = self.path.open("a", encoding="utf-8")

    def _read(self, identity: Identity | None) -> tuple[list[Episode], int]:
        """Return the episodes and the number of those of the whole evaluation."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        header = self._parsed(lines[0] if lines else "", 1)
        count = header.pop("episodes", None)
        if not isinstance(count, int):
            raise UserInputError(f"{self.path} is not a file of episodes: line 1 has no count")
        for name, value in (identity or {}).items():
            if header.get(name) != value:
                raise UserInputError(
                    f"{self.path} is of another evaluation: its {name} is {header.get(name)}, "
                    f"here {value}"
                )
        episodes = []
        for number, line in enumerate(lines[1:], 2):
            if number == len(lines):
                with suppress(UserInputError):  # an interrupted process may leave half a line
                    episodes.append(self._episode(line, number))
            else:
                episodes.append(self._episode(line, number))
        return episodes, count

    def _episode(self, line: str, number: int) -> Episode:
        values = self._parsed(line, number)
        try:
            for name in ("failures", "planning"):
                values[name] = tuple(values[name])
            return Episode(**values)
        except (KeyError, TypeError) as error:
            raise UserInputError(f"{self.path}, line {number} is not an episode") from error

    def _parsed(self, line: str, number: int) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except ValueError as error:
            raise UserInputError(f"{self.path}, line {number} is not JSON: {error}") from error
        if not isinstance(values, dict):
            raise UserInputError(f"{self.path}, line {number} is not an object of JSON")
        return values


def identity_of(trial: Trial, seed: int) -> Identity:
    """Return what all parts of an evaluation have in common; a table of a user by its hash."""
    file = Path(trial.controller)
    table = sha256(file.read_bytes()).hexdigest()[:16] if file.is_file() else ""
    return {
        "trial": repr(trial),
        "seed": str(seed),
        **({"controller": table} if table else {}),
        **versions(),
    }


@cache
def versions() -> Mapping[str, str]:
    """Return what the bits of an episode depend on: MuJoCo by its version, this code by a hash."""
    package = Path(__file__).resolve().parents[2]
    code = sha256()
    for file in sorted(it for it in package.rglob("*") if it.suffix in (".py", ".yaml")):
        code.update(file.read_bytes())
    return {"mujoco": mujoco.__version__, "code": code.hexdigest()[:16]}


def _line(values: Mapping[str, Any]) -> str:
    return json.dumps(values, default=float) + "\n"
