"""Reading the state of a simulation that runs in another process.

state = SharedState(name)
while not state.ended:
    if state.update() is not Update.NOTHING:
        mujoco.mj_forward(state.model, state.data)
"""

import time
from enum import Enum, auto
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.process.heartbeat import TIMEOUT_S
from mujoco_ros.sim.shared_memory.header import SharedHeader
from mujoco_ros.sim.shared_memory.memory_fence import fence, nothing
from mujoco_ros.sim.shared_memory.model_values import scatter
from mujoco_ros.sim.shared_memory.segment import SLOTS, SharedSegment
from mujoco_ros.sim.shared_memory.state_row import copies
from mujoco_ros.sim.state_log.segment_header import assembly

_LOADING_S = 120.0
_ENDING_S = 30.0


class Update(Enum):
    """What has changed in a shared state."""

    NOTHING = auto()
    STATE = auto()
    """There is a new state, or the model was edited."""
    MODEL = auto()
    """There is another model."""


class SharedState:
    """A model and state of one's own that follow those of a simulator.

    The simulator knows nothing of its readers: whatever they do, it goes on. For one thread.

    Attributes:
        model: The model, with what was edited in it at run time.
        data: The state at the beginning of a step, with `ctrl`, `qfrc_actuator` and `sensordata`
            of it. What follows from it otherwise is not computed: that takes ``mj_forward``, which
            finds the forces of the simulator's step, or for poses alone ``mj_kinematics``.
        assembly: The scene around the model.
        layout: Its robots.
        told: What a state log tells of a model as well: names of joints, sensors, references, …
        references: What the joints of all robots are told, in the order of ``told["references"]``.
        step: How many states there were since the simulation began; never goes back.
        edits: How often the model was edited.
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    assembly: Assembly
    layout: ModelLayout
    told: dict[str, Any]
    references: References

    def __init__(self, name: str) -> None:
        """Attach to the shared state of that name, which the simulator gives its companions.

        Raises:
            ModelError: There is none.
        """
        path, _, slot = name.partition("#")
        self._head = SharedHeader.open(path)
        self._deadline = self._head.deadline(int(slot)) if slot else None
        self._keep_order = fence() or nothing
        self.step = self.edits = 0
        self._load()

    @property
    def time(self) -> float:
        """Simulated time of the state in `data` [s]."""
        return float(self.data.time)

    @property
    def paused(self) -> bool:
        """Whether the simulation stands, at present."""
        return self._head.paused

    @property
    def factor(self) -> float:
        """Simulated seconds per wall second, as asked for; 0 is as fast as possible."""
        return self._head.factor

    @property
    def ended(self) -> bool:
        """Whether there will be nothing new, as the simulator ended or died."""
        return self._head.ended

    def beat(self, timeout_s: float = TIMEOUT_S) -> None:
        """Publish a heartbeat; without another one within `timeout_s`, the process is restarted."""
        if self._deadline is not None:
            self._deadline[0] = time.monotonic() + timeout_s

    def peek(self) -> tuple[float, int]:
        """Return time [s] and number of the latest state, which differ if `update` finds a new one.

        Costs less than `update`, and leaves everything as it is.
        """
        if self._head.generation != self._segment.generation:
            return self.time, self.step + 1
        count = self._segment.counter[0]
        return self._segment.times[count % SLOTS][0], count

    def update(self) -> Update:
        """Go over to the latest state, and to the latest model if that is another.

        Raises:
            ModelError: There is another model, and it cannot be read.
        """
        if self._head.generation != self._segment.generation:
            if self.ended:
                return Update.NOTHING
            self._load()
            return Update.MODEL
        edited = self._follow_edits()
        if self._segment.counter[0] != self.step:
            self._copy()
        elif not edited:
            return Update.NOTHING
        return Update.STATE

    def close(self) -> None:
        """Promise to end soon, as a driver may hang even then; `model` and `data` stay."""
        self.beat(_ENDING_S)

    def _load(self) -> None:
        """Go over to the present model; who reads is heard of when that has been got ready for."""
        self.beat(_LOADING_S)
        while True:
            generation = self._head.generation
            try:
                segment = SharedSegment.open(self._head.segment)
                if segment.generation == generation:
                    self._take(segment)
                    break
            except UserInputError:
                # Perhaps it is gone because there is yet another.
                if self._head.generation == generation:
                    raise

    def _take(self, segment: SharedSegment) -> None:
        self._segment = segment
        self.told, self.model = segment.told(), segment.model()
        self.data = mujoco.MjData(self.model)
        self.assembly = assembly(self.told, self.model)
        self.layout = lay_out(self.assembly)
        self._edited = 0
        self.references = References(np.zeros((3, len(self.told["references"]))))
        self._row = memoryview(bytearray(segment.rows[0]))
        self._time: memoryview[float] = self._row[:8].cast("d")
        self._copies = copies(self._row, self.data, self.references.values)
        self._follow_edits()
        self._copy()

    def _copy(self) -> None:
        segment = self._segment
        while True:
            count = segment.counter[0]
            self._keep_order()
            self._row[:] = segment.rows[count % SLOTS]
            self._keep_order()
            # Up to then, the row was not the next to be written.
            if segment.counter[0] - count < SLOTS - 1:
                break
        self.data.time = self._time[0]
        for part, own in self._copies:
            own[:] = part
        self.step = count

    def _follow_edits(self) -> bool:
        """Edit the model as the simulator's was; return whether that was necessary."""
        segment = self._segment
        edited = segment.edited
        if edited == self._edited or edited % 2:
            return False
        self._keep_order()
        numbers = segment.edits.copy()
        self._keep_order()
        if segment.edited != edited:
            return False  # it is being edited at this moment: next time
        scatter(self.model, numbers)
        self._edited = edited
        self.edits += 1
        return True
