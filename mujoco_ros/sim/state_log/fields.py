"""What a row of the log has."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mujoco_ros.sim.plant import Plant

STATE = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "eq_active")
"""Arrays of MjData that are the state."""
SENSED = ("sensordata", "qacc", "qfrc_actuator")
"""Those that were computed from it."""


@dataclass(frozen=True)
class Field:
    """Numbers that stand together in a row: their name and shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers these are."""
        return int(np.prod(self.shape, dtype=int))


def sources(plant: Plant) -> dict[str, np.ndarray]:
    """Return the arrays that make up a row beside the time, all of the instant of the sample."""
    names, sample = (*STATE, *SENSED), vars(plant.sample)
    arrays = {n: sample[n] if n in sample else getattr(plant.data, n) for n in names}
    return arrays | {"references": plant.references.values}


def fields(arrays: dict[str, np.ndarray]) -> list[Field]:
    """Return the fields of a row, the time first."""
    return [Field("time", ()), *(Field(name, array.shape) for name, array in arrays.items())]


def split(numbers: np.ndarray, fields: Sequence[Field]) -> dict[str, np.ndarray]:
    """Return the rows of each field, given all numbers of one field after those of another."""
    width = sum(field.size for field in fields)
    count = len(numbers) // width
    found: dict[str, np.ndarray] = {}
    first = 0
    for field in fields:
        last = first + count * field.size
        found[field.name] = numbers[first:last].reshape(count, *field.shape)
        first = last
    return found


def as_json(fields: Sequence[Field]) -> list[dict[str, Any]]:
    """Return fields as the log describes itself."""
    return [{"name": field.name, "shape": list(field.shape)} for field in fields]


def from_json(content: Sequence[dict[str, Any]]) -> list[Field]:
    """Return the fields a log describes."""
    return [Field(entry["name"], tuple(entry["shape"])) for entry in content]
