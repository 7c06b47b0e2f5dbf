"""Ring buffer of rows between the physics thread and the writer thread."""

import numpy as np

from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.state_vector import state_fields
from mujoco_ros.sim.state_log.row_format import DERIVED, STATE, row_fields

_BYTES = 32 << 20
_FEWEST, _MOST = 1024, 1 << 16


class RingBuffer:
    """Rows of one model that are not written yet.

    The physics thread adds rows and one other thread removes them. They need no locks: they share
    only integers, which are read and written atomically.

    Attributes:
        plant: The logged plant.
        fields: Fields of a row.
        columns: Rows by field; views where fields are together.  # (capacity, size)
        every: Steps per row.
        timestep: Simulated time between steps [s].
        added: Number of rows added.
        removed: Number of rows removed.
        dropped: Number of rows dropped for lack of space.
        closed: Whether no rows will be added.
    """

    def __init__(self, plant: Plant, every: int) -> None:
        """Allocate rows for `plant`, the present or next one of a simulation."""
        self.plant = plant
        arrays, state = _row_arrays(plant), state_fields(plant.model, plant.data)
        self.fields = row_fields(arrays, state)
        self.every = every
        self.timestep = float(plant.model.opt.timestep)
        self.added = self.removed = self.dropped = 0
        self.closed = False
        width = sum(field.size for field in self.fields)
        count = min(max(_BYTES // (8 * width), _FEWEST), _MOST)
        self._capacity = count
        together = {name: np.zeros((count, array.size)) for name, array in arrays.items()}
        for column in together.values():
            column.fill(0.0)  # commits the memory now, not in the physics thread
        # One assignment per array, which is faster than any single call for all.
        self._copies = [
            (together[name], array.reshape(-1)) for name, array in arrays.items() if array.size
        ]
        states = together.pop(STATE)
        self.columns = {field.name: states[:, field.part] for field in state} | together
        self._steps = every

    def add_step(self) -> None:
        """Add a row if one is due; called in the physics thread after each step."""
        self._steps -= 1
        if self._steps:
            return
        self._steps = self.every
        added = self.added
        if added - self.removed >= self._capacity:
            self.dropped += 1
            return
        index = added % self._capacity
        for column, source in self._copies:
            column[index] = source
        self.added = added + 1

    def pending(self) -> list[slice]:
        """Return the slices of the columns that hold rows, in order."""
        first, last, size = self.removed, self.added, self._capacity
        if first == last:
            return []
        begin, end = first % size, (last - 1) % size + 1
        return [slice(begin, end)] if begin < end else [slice(begin, size), slice(0, end)]

    def remove(self, count: int) -> None:
        """Free the space of the oldest `count` rows."""
        self.removed += count


def _row_arrays(plant: Plant) -> dict[str, np.ndarray]:
    """Return the arrays of a row, as of the last sample."""
    sample = plant.sample
    derived = (sample.sensordata, sample.qacc, sample.qfrc_actuator)
    measured = {} if plant.realism is None else plant.realism.measured_fields
    return {
        STATE: sample.state,
        **dict(zip(DERIVED, derived, strict=True)),
        "references": plant.references.values,
        **plant.extensions.at_step,
        **measured,
    }
