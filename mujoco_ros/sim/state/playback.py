"""A simulation of what happened before."""

from collections.abc import Callable
from typing import NamedTuple

import mujoco

from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.initial_state import InitialState
from mujoco_ros.sim.state_log.fields import SENSED, STATE
from mujoco_ros.sim.state_log.reader import LogSegment, StateLog


class LogPosition(NamedTuple):
    """A row of a log: the number of its segment, and its number there."""

    segment: int
    row: int


class Playback(Simulation):
    """Goes through the rows of a log instead of computing what happens.

    Whoever publishes a simulation publishes a playback in the same way. Where the model changes,
    it waits for `switch_model` with the model of the segment that it asked for.

    Attributes:
        log: What is played.
        loops: Whether it begins anew at the end; otherwise it pauses.
    """

    def __init__(
        self,
        log: StateLog,
        on_segment: Callable[[int], object],
        on_end: Callable[[], object] | None = None,
    ) -> None:
        """Begin with the first row of a log.

        Args:
            log: The log.
            on_segment: Called in the physics thread with the number of the next segment, when that
                has another model; must call `switch_model` with it.
            on_end: Called in the physics thread after the last row.

        Raises:
            UserInputError: Another version of MuJoCo wrote its model.
        """
        self.log = log
        self.loops = False
        self._on_segment, self._on_end = on_segment, on_end
        self._place = LogPosition(0, 0)
        self._coming: LogPosition | None = None
        super().__init__(log.segments[0].assembly)
        self._follow_segment()

    @property
    def segment(self) -> LogSegment:
        """The segment that is played."""
        return self.log.segments[self._place.segment]

    def step(self) -> bool:
        """Show the next row; return whether there was one."""
        if self._coming is not None:
            return False
        number, row = self._place
        if row < len(self.segment):
            self._place = LogPosition(number, row + 1)
            self._show(row)
            return True
        if number + 1 < len(self.log.segments):
            self._go(LogPosition(number + 1, 0))
        elif self.loops and len(self.log):
            self._go(LogPosition(0, 0))
        else:
            self.paused = True
            if self._on_end is not None:
                self._on_end()
        return False

    def seek(self, time: float) -> None:
        """Go to the last row that is not later than `time` [s], or the first."""
        found = LogPosition(0, 0)
        for number, segment in enumerate(self.log.segments):
            if len(segment) and segment.time.min() <= time:
                found = LogPosition(number, segment.index(time))
        self._go(found)

    def reset(self, *, time: float = 0.0, state: InitialState | None = None) -> None:
        """Go to the first row; or where `switch_model` goes."""
        super().reset(time=time, state=state)
        if self._coming is None:
            self._go(LogPosition(0, 0))

    def switch_model(self, plant: Plant, *, fresh: bool = False, time: float = 0.0) -> None:
        """Go on with the segment that was asked for, whose model `plant` has."""
        super().switch_model(plant, fresh=True, time=time)
        if self._coming is not None:
            self._place, self._coming = self._coming, None
        self._follow_segment()

    def _go(self, place: LogPosition) -> None:
        """Have the row at `place` be the next."""
        if place.segment == self._place.segment:
            self._place, self._coming = place, None
            return
        self._coming = place
        self._on_segment(place.segment)

    def _follow_segment(self) -> None:
        """Take a row for a step."""
        self.set_timestep(self.segment.timestep * self.segment.every)

    def _show(self, number: int) -> None:
        """Set everything there is in a row, and the poses that follow from it."""
        row, data, sample = self.segment.row(number), self.data, self.sample
        for name in (*STATE, *SENSED):
            getattr(data, name)[:] = row[name]
        sample.qpos[:], sample.qvel[:], sample.act[:] = data.qpos, data.qvel, data.act
        self.references.values[:] = row["references"]
        mujoco.mj_kinematics(self.model, data)
        before, time = self.time, row["time"].item()
        self.set_time(time)
        if time < before:  # it was reset, or somebody sought
            self.emit(self.reset_event(before, state=False))
