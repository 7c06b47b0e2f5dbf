"""Reading the state of a simulation in another process.

state = SharedState(name)
while not state.ended:
    if state.update() is not Update.NOTHING:
        mujoco.mj_forward(state.model, state.data)
"""

import time
from collections.abc import Iterator
from enum import Enum, auto
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.process.heartbeat import TIMEOUT_S
from mujoco_ros.sim.shared_memory.memory_block import SharedHeader, fence, no_fence
from mujoco_ros.sim.shared_memory.past_states import PastState, PastStates
from mujoco_ros.sim.shared_memory.segment import SLOTS, SharedSegment, row_arrays, row_pieces
from mujoco_ros.sim.state.model_edits import scatter
from mujoco_ros.sim.state.state_vector import Field, set_state, state_fields, state_vector
from mujoco_ros.sim.state_log.row_format import row_fields
from mujoco_ros.sim.state_log.segment_header import assembly

_LOADING_S = 120.0
_ENDING_S = 30.0


class Update(Enum):
    """Change of a shared state since the last update."""

    NOTHING = auto()
    STATE = auto()
    """A new state, or edits of the model."""
    MODEL = auto()
    """Another model."""


class SharedState:
    """A copy of the model and state of a simulator, updated on request.

    Readers cannot block or disturb the simulator. For one thread.
    """

    name: str  # its name, by which another thread opens a copy of its own
    model: mujoco.MjModel  # the model, with all run-time edits
    # The state at the beginning of a step, with its `ctrl`, `qfrc_actuator` and `sensordata`. Other
    # fields are not computed: ``mj_forward`` computes them, including the forces of the simulator's
    # step; ``mj_kinematics`` computes only the poses
    data: mujoco.MjData
    assembly: Assembly  # the scene of the model
    layout: ModelLayout  # its robots
    # Names of joints, sensors, references, …, as in the header of a state log
    metadata: dict[str, Any]
    references: References  # references of the joints, in the order of ``metadata["references"]``
    # The numbers of the state in `data`: the time, and one of `fields` after the other
    row: np.ndarray
    fields: list[Field]  # fields of a row after the time
    past: PastStates  # the past states of this model; their rows begin as `row`
    shown: PastState | None  # the past state that `data` holds; None for the latest one
    _is_other: bool  # whether `data` holds another state since the last update

    def __init__(self, name: str) -> None:
        """Open the shared state `name`, which the simulator passes to its child processes."""
        self.name, _, slot = name.partition("#")
        self._header = SharedHeader.open(self.name)
        self._deadline = self._header.deadline(int(slot)) if slot else None
        self._keep_order = fence() or no_fence
        self.step = 0  # number of states since the simulation began; never decreases
        self.edits = 0  # number of edits of the model
        self._load()

    @property
    def time(self) -> float:
        """Simulated time of the state in `data` [s]."""
        return float(self.data.time)

    @property
    def paused(self) -> bool:
        """Whether the simulation is paused."""
        return self._header.paused

    @property
    def factor(self) -> float:
        """Requested simulated seconds per wall second; 0 is as fast as possible."""
        return self._header.factor

    @property
    def resets(self) -> int:
        """Number of resets since the simulation began; read before the state after a reset."""
        return self._header.resets

    @property
    def ended(self) -> bool:
        """Whether the simulator ended or died."""
        return self._header.ended

    def beat(self, timeout_s: float = TIMEOUT_S) -> None:
        """Publish a heartbeat; without another one within `timeout_s`, the process is restarted."""
        if self._deadline is not None:
            self._deadline[0] = time.monotonic() + timeout_s

    def peek(self) -> tuple[float, int]:
        """Return the time [s] and number of the latest state, without an update.

        They differ from `time` and `step` if there is a new state or model.
        """
        if self._header.generation != self._segment.generation:
            return self.time, self.step + 1
        count = self._segment.counter[0]
        return self._segment.times[count % SLOTS][0], count

    def update(self) -> Update:
        """Copy the latest state, and the latest model if it is another one."""
        if self._header.generation != self._segment.generation:
            if self.ended:
                return Update.NOTHING
            self._load()
            return Update.MODEL
        edited = self._apply_edits()
        is_new = self.shown is None and self._segment.counter[0] != self.step
        if is_new:
            self._copy()
        is_other, self._is_other = self._is_other, False
        return Update.STATE if is_new or is_other or edited else Update.NOTHING

    def show(self, time: float | None) -> None:
        """Hold the last past state not later than `time` [s] in `data`; None for the latest."""
        while True:
            shown = None if time is None else self.past.find(time)
            if shown == self.shown:
                return
            if shown is None:
                self._copy()
                break
            if self._copy_past(shown.number):
                break
            # It was overwritten meanwhile: find another one.
        self.shown, self._is_other = shown, True

    def review(self, after: int) -> Iterator[int]:
        """Yield the number of each past state after a number, while `data` holds that state.

        They come oldest first. Afterwards, `data` holds the state that it held before.
        """
        numbers = self.past.after(after)
        if not numbers:
            return
        held = bytes(self._row)
        try:
            for number in numbers:
                if self._copy_past(number):
                    yield number
        finally:
            self._row[:] = held
            self._read_row()

    def close(self) -> None:
        """Publish the last heartbeat: a process whose graphics driver hangs at its end is killed.

        `model` and `data` remain valid.
        """
        self.beat(_ENDING_S)

    def _load(self) -> None:
        """Load the current model; the next heartbeat may come after the reader has processed it."""
        self.beat(_LOADING_S)
        while True:
            generation = self._header.generation
            try:
                segment = SharedSegment.open(self._header.segment)
                if segment.generation == generation:
                    self._use(segment)
                    break
            except UserInputError:
                # The segment may be gone because the model was switched again.
                if self._header.generation == generation:
                    raise

    def _use(self, segment: SharedSegment) -> None:
        self._segment = segment
        self.metadata, self.model = segment.metadata(), segment.model()
        self.data = mujoco.MjData(self.model)
        self.assembly = assembly(self.metadata, self.model)
        self.layout = lay_out(self.assembly)
        self._edited = 0
        self.references = References(np.zeros((3, len(self.metadata["references"]))))
        self.row = np.array(segment.rows[0].cast("d"))
        self._row = self.row.data.cast("B")
        self._scratch = memoryview(bytearray(self._row))
        self._time: memoryview[float] = self._row[:8].cast("d")
        self._state = state_vector(self.model, self.data)
        arrays = row_arrays(self._state, self.data, self.references.values)
        self.fields = row_fields(arrays, state_fields(self.model, self.data))
        self._copies = row_pieces(self._row, arrays)
        self.past, self.shown, self._is_other = segment.past, None, False
        self._apply_edits()
        self._copy()

    def _copy(self) -> None:
        segment = self._segment
        while True:
            count = segment.counter[0]
            self._keep_order()
            self._row[:] = segment.rows[count % SLOTS]
            self._keep_order()
            # The copy is valid if the writer had not begun to overwrite the row.
            if segment.counter[0] - count < SLOTS - 1:
                break
        self._read_row()
        self.step = count

    def _copy_past(self, number: int) -> bool:
        """Copy a past state; return whether it was still there, else nothing changes."""
        if not self.past.copy(number, self._scratch):
            return False
        self._row[:] = self._scratch
        self._read_row()
        return True

    def _read_row(self) -> None:
        for source, target in self._copies:
            target[:] = source
        set_state(self.model, self.data, self._state)
        self.data.time = self._time[0]

    def _apply_edits(self) -> bool:
        """Apply the simulator's edits to the model; return whether there were new ones."""
        segment = self._segment
        edited = segment.edited
        if edited == self._edited or edited % 2:
            return False
        self._keep_order()
        numbers = segment.edits.copy()
        self._keep_order()
        if segment.edited != edited:
            return False  # the simulator writes at this moment: the next update tries again
        scatter(self.model, numbers)
        self._edited = edited
        self.edits += 1
        return True
