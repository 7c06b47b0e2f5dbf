"""Changes of the model while it is simulated."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue

from rclpy.node import Node

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.file_access import ALL_FILES, FileAccess
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.rclpy_ext.executor import guarded, later
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation

Build = Callable[[Assembly], Assembly]
OnDone = Callable[[Exception | None], None]


_MAX_WAITING = 32


class BusyError(RuntimeError):
    """Too many changes of the model are waiting."""


class EndedError(RuntimeError):
    """The simulator is shutting down, so the model cannot change."""


@dataclass(frozen=True, kw_only=True)
class HoldTimes:
    """Number and durations [s] of the holds of the physics thread by changes of the model."""

    count: int = 0
    last: float = 0.0
    longest: float = 0.0


@dataclass(kw_only=True)
class _Change:
    build: Build
    on_done: OnDone
    fresh: bool
    cancelled: Exception | None = None
    is_final: bool = False


class ModelChangeListener:
    """Takes part in changes of the model; override what applies.

    A change calls `build`, `prepare`, `commit` and `finish`, each for all listeners. A change that
    fails before `commit` calls `rollback` for all listeners, even those whose `build` or `prepare`
    was not called. The simulation continues in between; `build` runs concurrently with the other
    methods of a component. Exceptions of `commit`, `finish` and `rollback` are logged, and the
    change continues.
    """

    def build(self, plant: Plant) -> None:
        """Prepare the next model in a worker thread: slow work that leaves the current one as is.

        A `UserInputError` means that the change is impossible, also in `prepare`.
        """

    def prepare(self, plant: Plant) -> None:
        """Open the ROS endpoints and parameters of the next model, in the executor's thread."""

    def commit(self) -> None:
        """Switch to the next model, in the physics thread, between two steps."""

    def finish(self) -> None:
        """Close the endpoints and parameters of the previous model, in the executor's thread."""

    def rollback(self) -> None:
        """Discard the next model, if there is one, in the executor's thread; must be idempotent."""


class ModelSwitch:
    """The one place that changes the model: one change at a time, while the physics runs.

    A worker thread builds the next model beside the current one. When it is built and all listeners
    are prepared, the physics thread switches to it between two steps. Any failure before that
    leaves everything unchanged.
    """

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        listeners: Sequence[ModelChangeListener],
        begin_time: Callable[[], float] | None = None,
        files: FileAccess = ALL_FILES,
    ) -> None:
        """Change the model of a simulation, followed by `listeners` in this order.

        They may grow until the first change. `begin_time` returns the simulated time at which a
        fresh model begins [s], in the physics thread; without it, 0. `files` are the files that a
        change may name.
        """
        self._files = files
        self.simulation = simulation
        self.holds = HoldTimes()  # holds of the physics thread by changes
        self._node = node
        self._listeners = listeners
        self._begin_time = begin_time
        self._waiting: deque[_Change] = deque()
        self._current: _Change | None = None
        self._builds: SimpleQueue[_Change] = SimpleQueue()
        self._ended = False
        # Now, so that it gets its share of the real-time priority of the physics thread, which
        # waits for it when it holds the interpreter's lock.
        threading.Thread(target=self._work, name="model change", daemon=True).start()

    @property
    def busy(self) -> bool:
        """Whether a change is in progress."""
        return self._current is not None

    def change(self, build: Build, on_done: OnDone, *, fresh: bool = False) -> None:
        """Change the model, after the changes requested before; call it in the executor's thread.

        `build` returns the next assembly, given the current one, in the worker thread. `on_done` is
        called in the executor's thread: with None after the change, or with the error that
        prevented it, in which case nothing has changed. A `fresh` model starts in its initial state
        and keeps nothing of the current one.
        """
        change = _Change(build=build, on_done=on_done, fresh=fresh)
        if self._ended:
            self._report(change, EndedError("the simulator is shutting down"))
            return
        if len(self._waiting) >= _MAX_WAITING:
            self._report(change, BusyError(f"busy: {_MAX_WAITING} changes of the model wait"))
            return
        self._waiting.append(change)
        self._next()

    def cancel(self, reason: Exception) -> bool:
        """Cancel the change in progress with a reason; return whether there was one to cancel.

        In the executor's thread. What it computes is completed, and then discarded.
        """
        if self._current is None or self._current.is_final:
            return False
        self._current.cancelled = reason
        return True

    def close(self) -> None:
        """Abandon all changes, after the physics thread has ended."""
        self._ended = True
        waiting, self._waiting = list(self._waiting), deque()
        for change in waiting:
            self._report(change, EndedError("the simulator is shutting down"))

    def _next(self) -> None:
        if self._current is None and self._waiting:
            self._current = self._waiting.popleft()
            self._builds.put(self._current)

    def _work(self) -> None:
        """Build one model after the other; one thread, because each keeps its own memory."""
        while True:
            self._build(self._builds.get())

    def _build(self, change: _Change) -> None:
        try:
            with self._files.for_client():
                plant = self.simulation.build_plant(change.build(self.simulation.assembly))
                plant.fresh = change.fresh
                for listener in self._listeners:
                    if change.cancelled is not None:
                        raise change.cancelled
                    listener.build(plant)
        except Exception as error:
            self._later(self._abandon, change, error)
        else:
            self._later(self._prepare, change, plant)

    def _prepare(self, change: _Change, plant: Plant) -> None:
        try:
            if change.cancelled is not None:
                raise change.cancelled
            change.is_final = True
            for listener in self._listeners:
                listener.prepare(plant)
            held = self.simulation.commands.submit(
                lambda: self._hold(plant, fresh=change.fresh), urgent=True
            )
        except QueueFullError:
            self._abandon(change, EndedError("the simulator is shutting down"))
        except Exception as error:
            self._abandon(change, error)
        else:
            held.add_done_callback(lambda held: self._later(self._finish, change, held))

    def _hold(self, plant: Plant, *, fresh: bool) -> float:
        """Switch to a plant, in the physics thread; return how long that took [s]."""
        begin = time.perf_counter()
        self.simulation.switch_model(
            plant, fresh=fresh, time=0.0 if self._begin_time is None else self._begin_time()
        )
        self._call_listeners("commit")  # the model has changed: none may be left out
        return time.perf_counter() - begin

    def _finish(self, change: _Change, held: "Future[float]") -> None:
        if held.cancelled():
            self._abandon(change, EndedError("the simulator is shutting down"))
            return
        error = held.exception()
        if isinstance(error, Exception):
            self._abandon(change, error)
            return
        duration, before = held.result(), self.holds
        self.holds = HoldTimes(
            count=before.count + 1, last=duration, longest=max(before.longest, duration)
        )
        self._call_listeners("finish")
        self._end(change, None)

    def _abandon(self, change: _Change, error: Exception) -> None:
        self._call_listeners("rollback")
        self._end(change, error)

    def _call_listeners(self, method: str) -> None:
        for listener in self._listeners:
            failed = f"{type(listener).__name__} failed in a change of the model"
            guarded(getattr(listener, method), failed)()

    def _end(self, change: _Change, error: Exception | None) -> None:
        self._current = None
        self._report(change, error)
        self._next()

    def _report(self, change: _Change, error: Exception | None) -> None:
        guarded(change.on_done, "the result of a change of the model could not be reported")(error)

    def _later(self, call: Callable[..., None], *args: object) -> None:
        later(self._node, call, *args)
