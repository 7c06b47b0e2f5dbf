"""The files of a training: policy, curve and checkpoint. Each is complete at any time."""

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from training.settings import Weights

NAME = "trot_policy"
"""Name of the files, without suffix."""
POLICY_SUFFIX, CURVE_SUFFIX, CHECKPOINT_SUFFIX = ".onnx", ".csv", ".msgpack"
_EPISODE = "episode/"
_MEANS = ("sum_reward", "length", "fallen", *asdict(Weights()))
"""Means of the last 100 episodes in the curve."""
_COLUMNS = ("steps", "wall_s", *_MEANS)


class TrainingError(Exception):
    """A training cannot begin or continue; the message names the reason."""


class Progress(NamedTuple):
    """How long a policy was trained, by all runs.

    Attributes:
        steps: Steps of the policy.
        wall_s: Wall time [s].
    """

    steps: int = 0
    wall_s: float = 0.0


def check_folder(folder: Path, resume: Path | None) -> None:
    """Check that a training replaces no files but those that it continues.

    Args:
        folder: Folder of the results.
        resume: Checkpoint to continue from.

    Raises:
        TrainingError: The folder has files of another training.
    """
    suffixes = (POLICY_SUFFIX, CURVE_SUFFIX, CHECKPOINT_SUFFIX)
    existing = [path for suffix in suffixes if (path := folder / f"{NAME}{suffix}").exists()]
    checkpoint = folder / f"{NAME}{CHECKPOINT_SUFFIX}"
    if existing and (resume is None or resume.resolve() != checkpoint.resolve()):
        raise TrainingError(
            f"there is {existing[0]} already; continue it with --resume {checkpoint}, "
            "choose another --output, or delete the files"
        )


def replace_file(path: Path, content: bytes) -> None:
    """Write a file and then rename it: the content is the old or the new one at any time.

    Raises:
        TrainingError: It cannot be written.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise TrainingError(f"{path} cannot be written: {error.strerror}") from error


class Curve:
    """The curve of a training, in a CSV file that is complete after each point."""

    def __init__(self, path: Path, previous: Path | None = None, steps: int = 0) -> None:
        """Begin a curve.

        Args:
            path: The file.
            previous: File of the curve to continue, if it exists.
            steps: Steps of the checkpoint to continue from; later points are left out.

        Raises:
            TrainingError: The previous file is not a curve with the same columns.
        """
        self._path = path
        self._rows: list[dict[str, str]] = []
        if previous is None or not previous.exists():
            return
        try:
            with previous.open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file, strict=True))
            self._rows = [row for row in rows if float(row["steps"]) <= steps]
        except (csv.Error, KeyError, TypeError, ValueError) as error:
            raise TrainingError(f"{previous} is not a curve of a training: {error!r}") from error
        if any(tuple(row) != _COLUMNS or None in row.values() for row in rows):
            raise TrainingError(f"{previous} does not have the columns {', '.join(_COLUMNS)}")

    def add(self, progress: Progress, metrics: Mapping[str, Any]) -> str:
        """Add a point, if the metrics are of episodes; return a line about it, or nothing."""
        if f"{_EPISODE}length" not in metrics:
            return ""
        means = {name: float(metrics[_EPISODE + name]) for name in _MEANS}
        values = {"wall_s": progress.wall_s, **means}
        texts = {name: f"{value:.6g}" for name, value in values.items()}
        self._rows.append({"steps": str(progress.steps), **texts})
        text = io.StringIO()
        writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self._rows)
        replace_file(self._path, text.getvalue().encode())
        return (
            f"{progress.steps} steps: reward {means['sum_reward']:.1f}, "
            f"length {means['length']:.0f}, {means['fallen']:.0%} fallen"
        )
