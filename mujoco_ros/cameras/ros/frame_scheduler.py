"""The times at which frames are computed, as the simulation advances."""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from mujoco_ros.cameras.ros.source import FrameDelivery, FrameSource, StateSnapshot
from mujoco_ros.model.sensors.cameras import compute_poses
from mujoco_ros.sim.shared_memory.reader import SharedState, Update
from mujoco_ros.wire.conversions import stamp

POLL_S = 0.1
"""Longest wall time between two checks for another model or for changes while paused [s]."""
_MIN_WAIT_S = 0.001
_STANDSTILL_S = 0.2  # wall time without a step after which the simulation is considered stopped [s]


class FrameScheduler:
    """Publishes the frames of sources when they are due and have a subscription.

    All frames that are due at one state show that state, so cameras of the same rate show the same
    instants. While the simulation is stopped, a new subscription gets the current frame, and all
    subscriptions get another one when the state changes. A trigger requests a frame at any time.
    These frames arrive at once; the others as their source delivers them.
    """

    def __init__(
        self,
        state: SharedState,
        create_sources: Callable[[], Sequence[FrameSource]],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Create the sources of each model; `clock` returns wall time [s]."""
        self._state, self._create_sources, self._clock = state, create_sources, clock
        self.sources = create_sources()  # the frame sources of the current model
        self._due: deque[tuple[FrameSource, bool]] = deque()
        self._resets = state.resets
        self._published: dict[FrameSource, float] = {}  # wall time
        self._changed: set[FrameSource] = set()  # since their frames, at the same simulated time
        self._updated = self._moved = clock()  # wall time
        self._due_since = 0.0

    def spin_once(self) -> float:
        """Publish at most one frame; return the wall time to wait until the next call [s]."""
        self._state.beat()
        if self._due:
            self._publish(*self._due.popleft())
            return 0.0
        subscribed = self._subscribed()
        now, (at, _) = self._clock(), self._state.peek()
        self._deliver(at)
        if self._select(subscribed, at, now) or now - self._updated >= POLL_S:
            self._due_since = self._updated = now
            self._update()
            subscribed = self._subscribed()
            due, at_once = self._select(subscribed, self._state.time, now), self._is_stopped(now)
            self._due.extend((source, at_once) for source in due)
            if self._due:
                self._take_snapshot()
                return 0.0
            at = self._state.time
        return self._wait(subscribed, at)

    def _subscribed(self) -> list[FrameSource]:
        """Return the sources with a subscription; the schedules of the others restart."""
        subscribed = []
        for source in self.sources:
            if source.subscriptions and (source.schedule.rate > 0 or source.triggered):
                subscribed.append(source)
            else:
                source.schedule.restart()
        return subscribed

    def _deliveries(self) -> Iterator[FrameDelivery]:
        """Yield what delivers the frames of each source that can be late."""
        return (source.delivery for source in self.sources if source.delivery is not None)

    def _deliver(self, at: float) -> None:
        """Publish late frames that arrive at a simulated time [s]; a reset discards them."""
        resets = self._state.resets
        for delivery in self._deliveries():
            if resets != self._resets:
                delivery.discard()
            delivery.deliver(at)
        self._resets = resets

    def _is_stopped(self, now: float) -> bool:
        return self._state.paused or now - self._moved >= _STANDSTILL_S

    def _select(self, subscribed: list[FrameSource], at: float, now: float) -> list[FrameSource]:
        """Return the sources with a frame at a state of time `at` [s]."""
        is_stopped = self._is_stopped(now)
        return [
            source
            for source in subscribed
            if source.triggered
            or source.schedule.is_due(at)
            or (is_stopped and (source.joined or self._is_stale(source, now)))
        ]

    def _is_stale(self, source: FrameSource, now: float) -> bool:
        """Return whether the state has changed since a frame that is older than a period."""
        return source in self._changed and (
            now - self._published.get(source, -math.inf) >= 1 / source.schedule.rate
        )

    def _update(self) -> None:
        state, before = self._state, (self._state.time, self._state.step)
        update = state.update()
        if state.step != before[1]:
            self._moved = self._updated
        if update is Update.MODEL:
            self.sources = self._create_sources()
            self._published.clear()
            self._changed = set(self.sources)
        elif update is Update.STATE and state.time == before[0]:
            self._changed.update(self.sources)

    def _take_snapshot(self) -> None:
        state = self._state
        compute_poses(state.model, state.data)
        self._snapshot = StateSnapshot(
            model=state.model,
            data=state.data,
            layout=state.layout,
            time=state.time,
            stamp=stamp(state.time),
        )

    def _publish(self, source: FrameSource, at_once: bool) -> None:
        begin = self._clock()
        self._state.beat(source.timeout.allow(first=source.is_new))
        source.schedule.note(self._snapshot.time)
        at_once = at_once or source.triggered
        source.triggered = False
        self._changed.discard(source)
        try:
            source.publish_frame(self._snapshot, at_once=at_once)
            source.failure = ""
        except Exception as error:  # the other sources continue
            source.note_failure(error)
        for publisher in source.publishers:
            publisher.joined = False
        now = self._clock()
        self._published[source] = now
        source.statistics.add(now - self._due_since)
        source.timeout.note(now - begin)
        self._state.beat()

    def _wait(self, subscribed: list[FrameSource], at: float) -> float:
        """Return the wall time until the next frame may be due, or arrives [s]."""
        waits = [source.schedule.time_to_next(at) for source in subscribed]
        waits += [delivery.next_arrival - at for delivery in self._deliveries()]
        wait = min(waits, default=math.inf)
        if wait == math.inf or self._state.paused:
            return POLL_S
        factor = self._state.factor
        return min(max(wait / factor if factor else 0.0, _MIN_WAIT_S), POLL_S)
