"""Which frames are taken when, as the simulation goes on."""

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import mujoco

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.cameras.camera_images import compute_poses
from mujoco_ros.cameras.ros.source import FrameSource, StateSnapshot
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.shared_memory.reader import Update

LOOK_S = 0.1
"""How long to wait at most until one looks again: for another model, and in a pause."""
_SOONEST_S = 0.001
_STANDING_S = 0.2
"""Without a step for so long, the simulation stands: it may be waiting for commands."""


class ScheduledSource(Protocol):
    """The state of a running simulation, as `SharedState` has it."""

    model: mujoco.MjModel
    data: mujoco.MjData
    layout: ModelLayout
    step: int

    @property
    def time(self) -> float:
        """Simulated time of the state [s]."""

    @property
    def paused(self) -> bool:
        """Whether the simulation stands."""

    @property
    def factor(self) -> float:
        """Simulated seconds per wall second; 0 is as fast as possible."""

    def beat(self, patience_s: float = ...) -> None:
        """Promise to be heard of again."""

    def peek(self) -> tuple[float, int]:
        """Return time and number of the latest state."""

    def update(self) -> Update:
        """Go over to the latest state."""


class FrameScheduler:
    """Has sources take frames when they are due and somebody listens.

    Everything that is due at one state is taken of that state, so that cameras of the same rate see
    the same instant. While the simulation stands, who begins to listen gets the present frame, and
    everybody gets another one when something was changed.

    Attributes:
        sources: What takes frames.
    """

    def __init__(
        self,
        state: ScheduledSource,
        sources: Callable[[], Sequence[FrameSource]],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Watch over a state.

        Args:
            state: The state.
            sources: Returns what takes frames of the present model of `state`, at first and
                whenever that is another one.
            clock: Returns wall time [s].
        """
        self._state, self._make, self._clock = state, sources, clock
        self.sources = sources()
        self._due: deque[FrameSource] = deque()
        self._taken: dict[FrameSource, float] = {}  # wall time
        self._changed: set[FrameSource] = set()  # while the simulation stood
        self._updated = self._moved = clock()  # wall time
        self._noticed = 0.0

    def turn(self) -> float:
        """Take one frame at most; return for how long to do something else [s]."""
        self._state.beat()
        if self._due:
            self._take(self._due.popleft())
            return 0.0
        listening = self._listening()
        now, (at, _) = self._clock(), self._state.peek()
        if self._wanted(listening, at, now) or now - self._updated >= LOOK_S:
            self._noticed = self._updated = now
            self._update()
            listening = self._listening()
            self._due.extend(self._wanted(listening, self._state.time, now))
            if self._due:
                self._begin()
                return 0.0
            at = self._state.time
        return self._wait(listening, at)

    def _listening(self) -> list[FrameSource]:
        """Return which sources somebody listens to; the others begin anew when they are."""
        found = []
        for source in self.sources:
            if source.listeners and source.pace.rate > 0:
                found.append(source)
            else:
                source.pace.forget()
        return found

    def _wanted(self, listening: list[FrameSource], at: float, now: float) -> list[FrameSource]:
        """Return which sources are to take a frame of a state."""
        standing = self._state.paused or now - self._moved >= _STANDING_S
        return [
            source
            for source in listening
            if source.pace.is_due(at)
            or (standing and (source.joined or self._is_stale(source, now)))
        ]

    def _is_stale(self, source: FrameSource, now: float) -> bool:
        """Return whether a state was changed since its frame, and not just now."""
        return source in self._changed and (
            now - self._taken.get(source, -math.inf) >= 1 / source.pace.rate
        )

    def _update(self) -> None:
        state, before = self._state, (self._state.time, self._state.step)
        update = state.update()
        if state.step != before[1]:
            self._moved = self._updated
        if update is Update.MODEL:
            self.sources = self._make()
            self._taken.clear()
            self._changed = set(self.sources)
        elif update is Update.STATE and state.time == before[0]:
            self._changed.update(self.sources)

    def _begin(self) -> None:
        """Compute the poses that all frames of the present state need."""
        state = self._state
        compute_poses(state.model, state.data)
        self._moment = StateSnapshot(
            model=state.model,
            data=state.data,
            layout=state.layout,
            time=state.time,
            stamp=stamp(state.time),
        )

    def _take(self, source: FrameSource) -> None:
        begun = self._clock()
        self._state.beat(source.patience.allow(first=source.is_new))
        source.pace.take(self._moment.time)
        self._changed.discard(source)
        try:
            source.take(self._moment)
            source.succeed()
        except Exception as error:  # it would end the process; the others go on
            source.fail(error)
        for publisher in source.publishers:
            publisher.joined = False
        source.untried = {it for it in source.untried if not it.subscriptions}
        now = self._clock()
        self._taken[source] = now
        source.timing.add(now - self._noticed)
        source.patience.note(now - begun)
        self._state.beat()

    def _wait(self, listening: list[FrameSource], at: float) -> float:
        """Return for how long nothing will be due [s], by all that is known."""
        if not listening or self._state.paused:
            return LOOK_S
        wait, factor = min(s.pace.wait(at) for s in listening), self._state.factor
        return min(max(wait / factor if factor else 0.0, _SOONEST_S), LOOK_S)
