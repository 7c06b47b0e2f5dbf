"""Writing present and past states to shared memory, in the physics thread."""

import math
from collections.abc import Sequence
from math import inf

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.description import RobotDescription
from mujoco_ros.native.plan import MANY
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.shared_memory.memory_block import SharedHeader, fence, no_fence
from mujoco_ros.sim.shared_memory.past_states import HistorySettings
from mujoco_ros.sim.shared_memory.segment import (
    SLOTS,
    Copies,
    SharedSegment,
    row_arrays,
    row_pieces,
    row_words,
)
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.model_edits import ModelValues
from mujoco_ros.sim.state.state_vector import set_state
from mujoco_ros.sim.state_log.writer import DescribeRobots, describe
from mujoco_ros.sim.stepping.compiled_steps import CompiledSteps

_REASON = "a past state was loaded"
_ROUNDING = 1e-3  # share of a timestep that a row may be early


class SegmentWriter:
    """The shared segment of a plant, and the copies that fill its rows.

    A past state is the state between two steps: all that the engine needs for the next one, with
    the sensor readings of the last one, the references of the joints, and the numbers and
    generators of the extensions.
    """

    def __init__(
        self,
        plant: Plant,
        described: Sequence[RobotDescription],
        generation: int,
        history: HistorySettings,
    ) -> None:
        data, references, sample = plant.data, plant.references.values, plant.sample
        stepped = row_arrays(sample.state, data, references, sample)
        self.segment = SharedSegment.create(
            plant.model,
            describe(plant, described),
            row=row_words(stepped),
            past_row=row_words(stepped | plant.extensions.arrays),
            generation=generation,
            history=history,
        )
        self._plant, self._past, self._history = plant, self.segment.past, history
        paused = row_arrays(plant.present.state, data, references)
        # Copies to each row after a step
        self.stepped = [row_pieces(row, stepped) for row in self.segment.rows]
        # Copies to each row in a pause
        self.paused = [row_pieces(row, paused) for row in self.segment.rows]
        width = self._past.rows.shape[1]
        self._period = history.period(width)
        self._due = self._last = -inf
        self._row = row = memoryview(bytearray(8 * width))
        self._time: memoryview[float] = row[:8].cast("d")
        past = row_arrays(plant.present.state, data, references, sample)
        self._copies = row_pieces(row, past | plant.extensions.arrays)
        self._values, self._edits = ModelValues(plant.model), np.empty(0)

    def add_past_if_due(self) -> None:
        """Add the state, if the period has passed since the last row, or the time was set back."""
        time = self._plant.data.time
        if time >= self._due or time < self._last:
            self.add_past()

    def steps_until_past(self) -> int:
        """Return after how many steps, at most `MANY`, the next state is to be added."""
        if not self._past.capacity:
            return MANY
        plant = self._plant
        left = (self._due - plant.data.time) / plant.model.opt.timestep
        return max(0, min(MANY, math.ceil(left) - 1)) if math.isfinite(left) else 0

    def add_past(self) -> None:
        """Add the state."""
        if not self._past.capacity:
            return
        time = self._last = self._time[0] = float(self._plant.data.time)
        self._due = time + self._period - _ROUNDING * self._plant.model.opt.timestep
        self._plant.present.read()
        for target, source in self._copies:
            target[:] = source
        self._past.add(self._row)

    def load_past(self, simulation: Simulation, time: float, *, rewind: bool) -> float:
        """Return to the last past state not later than `time`, between two steps; return its time
        [s].

        Goals, motions and external wrenches end, and joints hold their references, as after a
        reset. Gains and other edits of the model stay. With `rewind`, the simulated time is set as
        well.
        """
        if not self._past.capacity:
            raise UserInputError(
                "no past states are kept: a state of this model is too large"
                if self._history.length
                else "no past states are kept: parameter history_length is 0"
            )
        found = self._past.find_not_later(time)
        plant, before = self._plant, float(self._plant.data.time)
        for control in simulation.controls:
            control.reset(_REASON)
        simulation.wrenches.clear()
        self._past.copy(found.number, self._row)
        for source, target in self._copies:
            target[:] = source
        set_state(plant.model, plant.data, plant.present.state)
        if plant.realism is not None:
            plant.realism.reset()
        plant.data.xfrc_applied[:] = plant.data.qfrc_applied[:] = 0.0
        plant.data.time = found.time
        plant.evaluate()
        simulation.release_commands()
        simulation.set_current_sample(found.time if rewind else before)
        simulation.emit(simulation.plant.reset_event(before))
        return found.time

    def read_paused(self) -> bytes:
        """Read the state of a pause, which `paused` copies; return all of the row."""
        self._plant.present.read()
        return b"".join(source for _, source in self.paused[0])

    def share_edits(self) -> None:
        """Share the edits of the model since the last call."""
        self._values.read()
        edits, segment = self._values.numbers, self.segment
        if np.array_equal(edits, self._edits):
            return
        self._edits = edits.copy()
        keep_order = fence() or no_fence
        segment.edited += 1
        keep_order()
        segment.edits[:] = edits
        keep_order()
        segment.edited += 1

    def discard(self) -> None:
        """Close the segment; the system frees it when the last reader has closed it too."""
        self.segment.block.close()


class SharedStateWriter:
    """Shares the state of a simulation with any number of readers, without waiting for them.

    It fills a row that no reader uses, and increments the counter when the row is complete.
    """

    def __init__(
        self,
        simulation: Simulation,
        describe: DescribeRobots,
        factor: float = 1.0,
        history: HistorySettings | None = None,
    ) -> None:
        """Share the present state of a simulation that does not run yet.

        `describe` returns the descriptions of a plant's robots. A pace `factor` of 0 is as fast as
        possible. Without `history`, no past states are kept.
        """
        self.header = SharedHeader.create()  # the header, which readers open first
        self.header.factor = factor
        self._simulation, self._describe = simulation, describe
        self._history = history or HistorySettings()
        self._generations = 0
        self._compiled: tuple[CompiledSteps, SegmentWriter] | None = None
        self._paused = False
        self._reset_at = -1
        self._paused_state: bytes | None = None  # at the last call of `idle`
        self._keep_order = fence()
        self._previous: list[SegmentWriter] = []
        self._counter: memoryview[int] = memoryview(bytearray(8)).cast("q")
        self._use(self.prepare(simulation.plant))
        simulation.on_reset.append(self._note_reset)

    @property
    def name(self) -> str:
        """Name of the shared state for readers."""
        return self.header.name

    def prepare(self, plant: Plant) -> SegmentWriter:
        """Allocate the segment of the next plant; one thread at a time may call this."""
        self._generations += 1
        return SegmentWriter(plant, self._describe(plant), self._generations, self._history)

    def switch(self, prepared: SegmentWriter) -> None:
        """Share the state of another plant from now on, in the physics thread."""
        self._previous.append(self._current)
        self._compiled = None  # it keeps the previous plant
        self._use(prepared)

    def finish(self) -> None:
        """Release the memory of previous models, after a switch."""
        while self._previous:
            self._previous.pop().discard()

    def write(self) -> None:
        """Share the sample, in the physics thread, after a step."""
        if self._paused:
            self._paused, self._paused_state = False, None
            self.header.paused = False
        self._share(self._stepped)
        self._current.add_past_if_due()

    def idle_steps(self) -> int:
        """Return how many steps can be shared by compiled steps, which are told how."""
        compiled, current = self._simulation.compiled, self._current
        if compiled is None or self._paused:
            return 0
        if self._compiled != (compiled, current):
            self._compiled = compiled, current
            compiled.share(self._counter, zip(self._times, self._stepped, strict=True))
        return current.steps_until_past()

    def load(self, time: float, *, rewind: bool = True) -> float:
        """Return to the last past state not later than `time`; in the physics thread.

        See `SegmentWriter.load_past`.
        """
        return self._current.load_past(self._simulation, time, rewind=rewind)

    def idle(self) -> None:
        """Share changes of a paused simulation, in the physics thread."""
        if not self._paused:
            self.header.paused = self._paused = True
        present = self._current.read_paused()
        changed = self._paused_state is not None and self._paused_state != present
        if changed or self._reset_at == self._counter[0]:
            self._share(self._current.paused)
        self._paused_state = present

    def share_edits(self) -> None:
        """Share edits of the model, if there are any; one thread may call this."""
        self._current.share_edits()

    def close(self) -> None:
        """Mark the simulation as ended, after the physics thread has ended."""
        self.header.end()
        self._previous.append(self._current)
        self.finish()

    def _use(self, prepared: SegmentWriter) -> None:
        prepared.share_edits()
        count = self._counter[0]
        self._current, self._paused_state = prepared, None
        self._counter, self._times = prepared.segment.counter, prepared.segment.times
        self._counter[0] = count
        self._stepped = prepared.stepped
        self._share(self._stepped)
        (self._keep_order or no_fence)()
        self.header.point_to(prepared.segment.generation, prepared.segment.block)

    def _share(self, rows: Sequence[Copies]) -> None:
        """Write the next row."""
        count = self._counter[0] + 1
        slot = count % SLOTS
        self._times[slot][0] = self._simulation.time
        for target, source in rows[slot]:
            target[:] = source
        if self._keep_order is not None:
            self._keep_order()
        self._counter[0] = count

    def _note_reset(self) -> None:
        self._reset_at = self._counter[0]
        self.header.resets += 1
        self._current.add_past()
