"""Changes of the model while it is simulated."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue

from rclpy.node import Node

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.command_queue import QueueFullError
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation

_LOG = logging.getLogger(__name__)

Build = Callable[[Assembly], Assembly]
Done = Callable[[Exception | None], None]


class EndedError(RuntimeError):
    """The simulator ends, and the model will not change any more."""


@dataclass(frozen=True, kw_only=True)
class HoldTimes:
    """How often, and for how long [s], the physics waited for a change of the model."""

    count: int = 0
    last: float = 0.0
    longest: float = 0.0


@dataclass(frozen=True, kw_only=True)
class _Change:
    build: Build
    done: Done
    fresh: bool


class ModelSwitch:
    """The one place that changes the model: one change after the other, while the physics runs.

    A thread of its own builds the next model beside the running one. When it is there, and all
    followers are ready for it, the physics thread goes over to it between two steps. Whatever fails
    before that leaves everything as it was.

    Attributes:
        simulation: What is simulated.
        holds: How the physics was held up by changes so far.
    """

    def __init__(self, node: Node, simulation: Simulation) -> None:
        """Change the model of `simulation`; the executor is that of `node`."""
        self.simulation = simulation
        self.holds = HoldTimes()
        self.begins: Callable[[], float] = lambda: 0.0
        """Returns the simulated time [s] at which a fresh model begins; for the physics thread."""
        self._node = node
        self._followers: list[ModelChangeListener] = []
        self._waiting: deque[_Change] = deque()
        self._present: _Change | None = None
        self._drafts: SimpleQueue[_Change] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="model change", daemon=True)
        self._ended = False

    @property
    def busy(self) -> bool:
        """Return whether a change is under way."""
        return self._present is not None

    def follow(self, follower: ModelChangeListener) -> None:
        """Have `follower` go along with changes, after those who follow already."""
        self._followers.append(follower)

    def change(self, build: Build, done: Done, *, fresh: bool = False) -> None:
        """Change the model, after the changes that were asked for before.

        Call this in the executor's thread.

        Args:
            build: Returns the next assembly, given the present one; runs in a thread of its own.
            done: Called in the executor's thread: with None when everything has changed, or with
                what prevented it, when nothing has.
            fresh: Whether to start anew with the next model, and keep nothing of the present one.
        """
        change = _Change(build=build, done=done, fresh=fresh)
        if self._ended:
            self._tell(change, EndedError("the simulator is shutting down"))
            return
        self._waiting.append(change)
        self._next()

    def close(self) -> None:
        """Give up all changes, after the physics thread has ended."""
        self._ended = True
        waiting, self._waiting = list(self._waiting), deque()
        for change in waiting:
            self._tell(change, EndedError("the simulator is shutting down"))

    def _next(self) -> None:
        if self._present is None and self._waiting:
            self._present = self._waiting.popleft()
            self._drafts.put(self._present)
            if not self._worker.is_alive():
                self._worker.start()

    def _work(self) -> None:
        """Draft one change after the other; one thread for all, as each keeps memory of its own."""
        while True:
            self._draft(self._drafts.get())

    def _draft(self, change: _Change) -> None:
        try:
            plant = self.simulation.plan(change.build(self.simulation.assembly))
            plant.fresh = change.fresh
            for follower in self._followers:
                follower.draft(plant)
        except Exception as error:
            self._later(self._give_up, change, error)
        else:
            self._later(self._prepare, change, plant)

    def _prepare(self, change: _Change, plant: Plant) -> None:
        try:
            for follower in self._followers:
                follower.prepare(plant)
            held = self.simulation.commands.submit(
                lambda: self._hold(plant, fresh=change.fresh), urgent=True
            )
        except QueueFullError:
            self._give_up(change, EndedError("the simulator is shutting down"))
        except Exception as error:
            self._give_up(change, error)
        else:
            held.add_done_callback(lambda held: self._later(self._finish, change, held))

    def _hold(self, plant: Plant, *, fresh: bool) -> float:
        """Go over to a plant, in the physics thread; return how long that took [s]."""
        begin = time.perf_counter()
        self.simulation.succeed(plant, fresh=fresh, time=self.begins())
        for follower in self._followers:
            try:
                follower.switch()
            except Exception:  # the model has changed: the others must go along
                _LOG.exception("%s did not follow a change of the model", type(follower).__name__)
        return time.perf_counter() - begin

    def _finish(self, change: _Change, held: "Future[float]") -> None:
        if held.cancelled():
            self._give_up(change, EndedError("the simulator is shutting down"))
            return
        error = held.exception()
        if isinstance(error, Exception):
            self._give_up(change, error)
            return
        duration, before = held.result(), self.holds
        self.holds = HoldTimes(
            count=before.count + 1, last=duration, longest=max(before.longest, duration)
        )
        for follower in self._followers:
            try:
                follower.finish()
            except Exception:
                _LOG.exception("%s did not follow a change of the model", type(follower).__name__)
        self._end(change, None)

    def _give_up(self, change: _Change, error: Exception) -> None:
        for follower in self._followers:
            try:
                follower.abort()
            except Exception:
                _LOG.exception("%s cannot give up a change", type(follower).__name__)
        self._end(change, error)

    def _end(self, change: _Change, error: Exception | None) -> None:
        self._present = None
        self._tell(change, error)
        self._next()

    def _tell(self, change: _Change, error: Exception | None) -> None:
        try:
            change.done(error)
        except Exception:
            _LOG.exception("a change of the model cannot be told")

    def _later(self, call: Callable[..., None], *args: object) -> None:
        """Call something in the executor's thread."""
        later(self._node, call, *args)
