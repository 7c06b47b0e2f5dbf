"""Rows on their way from the physics to the disk."""

import numpy as np

from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state_log.fields import fields, sources

_BYTES = 32 << 20
_FEWEST, _MOST = 1024, 1 << 16


class RingBuffer:
    """Rows of one model that are not on the disk yet.

    The physics thread adds rows, and one other takes them; neither waits for the other. Reading
    and writing an integer is atomic, which is all they share.

    Attributes:
        plant: What is logged.
        fields: What a row has.
        columns: By field, the rows that wait and others.  # (capacity, size)
        every: So many steps make a row.
        timestep: Simulated time between steps [s].
        added: How many rows were added.
        taken: How many of them were taken.
        dropped: How many rows there was no room for.
        closed: Whether there will be no more rows.
    """

    def __init__(self, simulation: Simulation, plant: Plant, every: int) -> None:
        """Make room for `plant`, which `simulation` runs or is going to."""
        self.plant = plant
        arrays = sources(plant)
        self.fields = fields(arrays)
        self.every = every
        self.timestep = float(plant.model.opt.timestep)
        self.added = self.taken = self.dropped = 0
        self.closed = False
        self._simulation = simulation
        width = sum(field.size for field in self.fields)
        count = min(max(_BYTES // (8 * width), _FEWEST), _MOST)
        self._capacity = count
        self.columns = {field.name: np.zeros((count, field.size)) for field in self.fields}
        for column in self.columns.values():
            column.fill(0.0)  # has the system give the memory now
        self._times = self.columns["time"]
        # One assignment each, which is quicker than any one call for all of them.
        self._copies = [
            (self.columns[name], array.reshape(-1)) for name, array in arrays.items() if array.size
        ]
        self._steps = every

    def step(self) -> None:
        """Add a row if it is due; called in the physics thread after each step."""
        self._steps -= 1
        if self._steps:
            return
        self._steps = self.every
        added = self.added
        if added - self.taken >= self._capacity:
            self.dropped += 1
            return
        place = added % self._capacity
        self._times[place] = self._simulation.time
        for column, source in self._copies:
            column[place] = source
        self.added = added + 1

    def waiting(self) -> list[slice]:
        """Return where in the columns rows wait, in order; `take` frees their place."""
        first, last, size = self.taken, self.added, self._capacity
        if first == last:
            return []
        begin, end = first % size, (last - 1) % size + 1
        return [slice(begin, end)] if begin < end else [slice(begin, size), slice(0, end)]

    def take(self, count: int) -> None:
        """Free the place of `count` rows that waited."""
        self.taken += count
