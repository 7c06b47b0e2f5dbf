"""Fields of a row of the state log."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.sample import MOVING

STATE = (*MOVING, "ctrl", "mocap_pos", "mocap_quat", "eq_active")
"""Arrays of MjData that are state."""
DERIVED = ("sensordata", "qacc", "qfrc_actuator")
"""Arrays of MjData that are computed from the state."""
EXTENSION = "extension "
"""Beginning of the names of fields with the state of an extension."""


@dataclass(frozen=True)
class Field:
    """Name and shape of an array in a row."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))


def row_arrays(plant: Plant) -> dict[str, np.ndarray]:
    """Return the arrays of a row, without its time, as of the last sample."""
    names, sample = (*STATE, *DERIVED), vars(plant.sample)
    arrays = {n: sample[n] if n in sample else getattr(plant.data, n) for n in names}
    extensions = {EXTENSION + key: array for key, array in plant.extensions.arrays.items()}
    measured = {} if plant.realism is None else plant.realism.measured_fields
    return arrays | {"references": plant.references.values} | extensions | measured


def row_fields(arrays: dict[str, np.ndarray]) -> list[Field]:
    """Return the fields of a row, the time first."""
    return [Field("time", ()), *(Field(name, array.shape) for name, array in arrays.items())]


def split_rows(numbers: np.ndarray, fields: Sequence[Field]) -> dict[str, np.ndarray]:
    """Return the rows of each field from a record, in which one field follows the other."""
    width = sum(field.size for field in fields)
    count = len(numbers) // width
    rows: dict[str, np.ndarray] = {}
    first = 0
    for field in fields:
        last = first + count * field.size
        rows[field.name] = numbers[first:last].reshape(count, *field.shape)
        first = last
    return rows


def to_json(fields: Sequence[Field]) -> list[dict[str, Any]]:
    """Return fields as in a segment header."""
    return [{"name": field.name, "shape": list(field.shape)} for field in fields]


def from_json(content: Sequence[dict[str, Any]]) -> list[Field]:
    """Return the fields of a segment header."""
    return [Field(entry["name"], tuple(entry["shape"])) for entry in content]
