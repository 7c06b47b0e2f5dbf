"""Layout of a row of the shared state: the time, the engine's state, and what belongs to it."""

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

from mujoco_ros.sim.sample import Sample

_WORD = 8

Copies = list[tuple[memoryview, memoryview]]
"""Pieces of a row, each with the piece of the state that it is a copy of."""


def row_arrays(
    state: np.ndarray, data: mujoco.MjData, references: np.ndarray, sample: Sample | None = None
) -> list[np.ndarray]:
    """Return the arrays of a row after its time, in the order in which they follow each other.

    Args:
        state: The state vector.  # (nstate,)
        data: The data with the actuator forces, and the sensor readings without a sample.
        references: Position, velocity and effort references of the joints.  # (3, n)
        sample: The sample with the measured sensor readings.
    """
    sensordata = data.sensordata if sample is None else sample.sensordata
    return [state, references, data.qfrc_actuator, sensordata]


def size(arrays: Sequence[np.ndarray]) -> int:
    """Return the length of a row in words of 8 bytes."""
    return 1 + sum(array.nbytes for array in arrays) // _WORD


def copies(row: memoryview, arrays: Iterable[np.ndarray]) -> Copies:
    """Return the pieces of a row after the time, each with its array."""
    found, first = [], _WORD
    for array in arrays:
        if array.size:
            piece = memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
            found.append((row[first : first + piece.nbytes], piece))
            first += piece.nbytes
    return found
