"""Playback of a state log."""

from collections.abc import Callable

import mujoco

from mujoco_ros.model.scene.limits import END_OF_TIME_S, check_time
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.initial_state import InitialState
from mujoco_ros.sim.state_log.reader import LogSegment, StateLog
from mujoco_ros.sim.state_log.row_format import DERIVED

LogPosition = tuple[int, int]
"""Index of a segment of a log, and of a row in it."""


class Playback(Simulation):
    """A simulation whose steps load the rows of a log instead of computing the physics.

    Where the model changes, it waits for `switch_model` with the model of the next segment.
    """

    def __init__(
        self,
        log: StateLog,
        on_segment: Callable[[int], object],
        on_end: Callable[[], object] | None = None,
    ) -> None:
        """Begin with the first row of a log; `on_end` is called after the last one.

        `on_segment` gets the index of a segment with another model, which it must `switch_model`
        to.
        """
        for number, segment in enumerate(log.segments):
            for time in (segment.time.min(), segment.time.max()) if len(segment) else ():
                check_time(f"segment {number} of '{log.path}'", float(time), END_OF_TIME_S)
        self.log = log  # the log
        self.loops = False  # whether it restarts at the end; otherwise it pauses
        self._on_segment, self._on_end = on_segment, on_end
        self._next: LogPosition = (0, 0)
        self._awaited: LogPosition | None = None  # in the segment whose model is awaited
        super().__init__(log.segments[0].assembly)
        self._apply_timestep()

    @property
    def segment(self) -> LogSegment:
        """The present segment."""
        return self.log.segments[self._next[0]]

    @property
    def can_be_compiled(self) -> bool:
        """Never: compiled steps compute the physics."""
        return False

    def step(self) -> bool:
        """Load the next row; return whether there was one."""
        if self._awaited is not None:
            return False
        segment, row = self._next
        if row < len(self.segment):
            self._next = (segment, row + 1)
            self._load(row)
            return True
        if segment + 1 < len(self.log.segments):
            self._move_to((segment + 1, 0))
        elif self.loops and len(self.log):
            self._move_to((0, 0))
        else:
            self.paused = True
            if self._on_end is not None:
                self._on_end()
        return False

    def seek(self, time: float) -> None:
        """Move to the last row not later than `time` [s], or to the first row."""
        found = (0, 0)
        for number, segment in enumerate(self.log.segments):
            if len(segment) and segment.time.min() <= time:
                found = (number, segment.index(time))
        self._move_to(found)

    def reset(self, *, time: float = 0.0, state: InitialState | None = None) -> None:
        """Move to the first row, or to the one that `switch_model` is called for."""
        super().reset(time=time, state=state)
        if self._awaited is None:
            self._move_to((0, 0))

    def switch_model(self, plant: Plant, *, fresh: bool = False, time: float = 0.0) -> None:
        """Continue with the awaited segment, whose model `plant` has."""
        super().switch_model(plant, fresh=True, time=time)
        if self._awaited is not None:
            self._next, self._awaited = self._awaited, None
        self._apply_timestep()

    def _move_to(self, position: LogPosition) -> None:
        if position[0] == self._next[0]:
            self._next, self._awaited = position, None
            return
        self._awaited = position
        self._on_segment(position[0])

    def _apply_timestep(self) -> None:
        """Set the time between rows as timestep."""
        self.set_timestep(self.segment.timestep * self.segment.every)

    def _load(self, row_index: int) -> None:
        """Load a row, and compute the body poses."""
        row, data = self.segment.row(row_index), self.data
        self.segment.load_state(row_index, data)
        for name in DERIVED:
            getattr(data, name)[:] = row[name]
        self.plant.note_state()
        if self.plant.realism is not None:
            for name, array in self.plant.realism.measured_fields.items():
                array[:] = row[name]
        self.references.values[:] = row["references"]
        mujoco.mj_kinematics(self.model, data)
        before, time = self.time, row["time"].item()
        self.set_time(time)
        if time < before:  # after a logged reset, or `seek`
            self.emit(self.plant.reset_event(before, state=False))
