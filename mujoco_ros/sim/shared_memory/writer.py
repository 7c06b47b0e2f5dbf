"""Writing the state where other processes read it, in the physics thread."""

from collections.abc import Callable, Sequence

import numpy as np

from mujoco_ros.model.robot.description import RobotDescription
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.shared_memory.header import SharedHeader
from mujoco_ros.sim.shared_memory.memory_fence import fence, nothing
from mujoco_ros.sim.shared_memory.model_values import gather
from mujoco_ros.sim.shared_memory.segment import SLOTS, SharedSegment
from mujoco_ros.sim.shared_memory.state_row import Copies, copies
from mujoco_ros.sim.simulation import Simulation

Describe = Callable[[Plant], Sequence[RobotDescription]]


class Draft:
    """The memory of a plant, and what is copied into its rows.

    Attributes:
        plant: What is simulated next.
        segment: The memory.
        stepped: What is copied where in each row after a step.
        standing: The same while the simulation stands.
    """

    def __init__(
        self, plant: Plant, described: Sequence[RobotDescription], generation: int
    ) -> None:
        """Make the memory.

        Raises:
            ModelError: There is not enough.
        """
        self.plant = plant
        self.segment = SharedSegment.create(plant, described, generation)
        state = plant.data, plant.references.values
        self.stepped = [copies(row, *state, plant.sample) for row in self.segment.rows]
        self.standing = [copies(row, *state) for row in self.segment.rows]
        self._edits = np.empty(0)

    def share_edits(self) -> None:
        """Share what was edited in the model since the last call."""
        edits, segment = gather(self.plant.model), self.segment
        if np.array_equal(edits, self._edits):
            return
        self._edits = edits
        keep_order = fence() or nothing
        segment.edited += 1
        keep_order()
        segment.edits[:] = edits
        keep_order()
        segment.edited += 1

    def discard(self) -> None:
        """Give the memory back, once readers let go of it."""
        self.segment.block.close()


class SharedStateWriter:
    """Shares the state of a simulation with readers, of which it knows nothing and waits for none.

    A row is written where no reader reads, and counted when it is whole.

    Attributes:
        head: What readers look at first.
    """

    def __init__(self, simulation: Simulation, describe: Describe, factor: float = 1.0) -> None:
        """Share the present state of a simulation that does not run yet.

        Args:
            simulation: The simulation.
            describe: Gives the descriptions of a plant's robots.
            factor: Simulated seconds per wall second; 0 is as fast as possible.

        Raises:
            ModelError: There is not enough memory.
        """
        self.head = SharedHeader.create()
        self.head.factor = factor
        self._simulation, self._describe = simulation, describe
        self._drafted = self._count = 0
        self._paused = False
        self._reset_at = -1
        self._seen: bytes | None = None  # the state, when a pause was last looked at
        self._keep_order = fence()
        self._gone: list[Draft] = []
        simulation.on_reset.append(self._note_reset)
        self._take(self.draft(simulation.plant))

    @property
    def name(self) -> str:
        """Under which readers find the shared state."""
        return self.head.name

    def draft(self, plant: Plant) -> Draft:
        """Make the memory for what is simulated next; one thread at a time may call this.

        Raises:
            ModelError: There is not enough.
        """
        self._drafted += 1
        return Draft(plant, self._describe(plant), self._drafted)

    def switch(self, draft: Draft) -> None:
        """Share what is simulated from now on, in the physics thread."""
        self._gone.append(self._draft)
        self._take(draft)

    def finish(self) -> None:
        """Give back the memory of models that are gone, after a switch."""
        while self._gone:
            self._gone.pop().discard()

    def write(self) -> None:
        """Share the sample, in the physics thread, after a step."""
        if self._paused:
            self._paused, self._seen = False, None
            self.head.paused = False
        self._share(self._stepped)

    def idle(self) -> None:
        """Share what was changed while the simulation stands, in the physics thread, at leisure."""
        if not self._paused:
            self.head.paused = self._paused = True
        present = b"".join(own for _, own in self._draft.standing[0])
        changed = self._seen is not None and self._seen != present
        if changed or self._reset_at == self._count:
            self._share(self._draft.standing)
        self._seen = present

    def share_edits(self) -> None:
        """Share what was edited in the model, if anything was; one thread may call this."""
        self._draft.share_edits()

    def close(self) -> None:
        """Tell readers that there will be nothing new, after the physics thread has ended."""
        self.head.end()
        self._gone.append(self._draft)
        self.finish()

    def _take(self, draft: Draft) -> None:
        draft.share_edits()
        self._draft, self._seen = draft, None
        self._counter, self._times = draft.segment.counter, draft.segment.times
        self._stepped = draft.stepped
        self._share(self._stepped)
        (self._keep_order or nothing)()
        self.head.point_to(draft.segment.generation, draft.segment.block)

    def _share(self, rows: Sequence[Copies]) -> None:
        """Write the next of some rows."""
        count = self._count + 1
        slot = count % SLOTS
        self._times[slot][0] = self._simulation.time
        for part, own in rows[slot]:
            part[:] = own
        if self._keep_order is not None:
            self._keep_order()
        self._counter[0] = self._count = count

    def _note_reset(self) -> None:
        self._reset_at = self._count
