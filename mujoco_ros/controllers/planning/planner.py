"""Planners: in the calling thread, or in a separate process."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import mujoco

from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.limits import PlannerDiedError
from mujoco_ros.controllers.planning.requests import MotionPlan, Request
from mujoco_ros.extras import require
from mujoco_ros.process.worker_process import WorkerProcess, serve


class Planner(ABC):
    """Plans motions of a chain, one at a time; equal requests have plans of equal bits."""

    @abstractmethod
    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Request a plan; the future fails with a MotionError if no motion exists."""

    @abstractmethod
    def follow(self, model: mujoco.MjModel) -> None:
        """Answer later requests in another scene; UserInputError if its model lacks the chain."""

    def finish(self) -> None:  # noqa: B027 - a planner may have nothing to release
        """Release the planner, without waiting, once it has answered the requests made so far."""

    def close(self) -> None:  # noqa: B027
        """Stop planning; the request in progress fails."""


class InlinePlanner(Planner):
    """Plans in the calling thread, which waits for the plan."""

    def __init__(self, chain: Chain) -> None:
        require("planning", "planning")
        self._chain, self._plan = chain, _plan_function(chain)

    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Return a future that is done."""
        future: Future[MotionPlan] = Future()
        try:
            future.set_result(self._plan(request))
        except Exception as error:
            future.set_exception(error)
        return future

    def follow(self, model: mujoco.MjModel) -> None:
        """Plan in another scene."""
        self._chain = self._chain.within(model)
        self._plan = _plan_function(self._chain)


class ProcessPlanner(WorkerProcess, Planner):
    """Plans in a worker process of low priority, without the GIL of this process.

    The process starts at once and ends with this one. If it crashes, its request fails with a
    PlannerDiedError, and the next request starts another process.
    """

    def __init__(self, chain: Chain) -> None:
        require("planning", "planning")
        self._chain = chain
        super().__init__(__name__, lambda: chain, PlannerDiedError)
        self.start()

    def follow(self, model: mujoco.MjModel) -> None:
        """Plan later requests in another scene, in the same process."""
        self._chain = chain = self._chain.within(model)
        self.prepare(lambda: chain)


PLANNERS: Key[Callable[[Chain], Planner]] = Key("motion/planners")
"""Creates a planner for a chain. A real-time host provides one in a separate process."""


def get_planner(store: Store, chain: Chain) -> Planner:
    """Return a planner for a chain: the host's, or one that blocks until the plan is ready."""
    return store.get(PLANNERS)(chain) if PLANNERS in store else InlinePlanner(chain)


def main(arguments: Sequence[str]) -> int:
    """Plan in a worker process until its parent ends; return the exit code."""
    return serve(arguments, _plan_function)


def _plan_function(chain: Chain) -> Callable[[Request], MotionPlan]:
    # The import of SciPy, OMPL and mink takes a second; few processes need them.
    from mujoco_ros.controllers.planning.motion_planner import MotionPlanner

    return MotionPlanner(chain).plan
