"""Fields of a row of the state log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mujoco_ros.sim.state.state_vector import StateField

STATE = "state"
"""Key of the state vector among the arrays of a row; a field of the log is one of its fields."""
DERIVED = ("sensordata", "qacc", "qfrc_actuator")
"""Arrays of MjData that are computed from the state."""


@dataclass(frozen=True)
class Field:
    """Name and shape of an array in a row."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))


def row_fields(arrays: Mapping[str, np.ndarray], state: Sequence[StateField]) -> list[Field]:
    """Return the fields of a row, the state's first.

    Args:
        arrays: The arrays of a row.
        state: The fields of its state vector.
    """
    others = [Field(name, array.shape) for name, array in arrays.items() if name != STATE]
    return [*(Field(it.name, it.shape) for it in state), *others]


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
