"""Who plans: whoever asks, at once, or a process of its own."""

from concurrent.futures import Future
from typing import Protocol

from mujoco_ros.controllers.planning.errors import PlannerDiedError
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.requests import MotionPlan, Request
from mujoco_ros.extras import require
from mujoco_ros.process.worker_process import WorkerProcess

_PROCESS = "mujoco_ros.controllers.planning.planning_worker"


class Planner(Protocol):
    """Plans motions of one chain, one after the other; the same request gives the same bits."""

    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Have a motion planned; the future fails with a MotionError if there is none."""

    def close(self) -> None:
        """Plan nothing more; what is under way fails."""


class InlinePlanner:
    """Plans at once, while its caller waits."""

    def __init__(self, chain: Chain) -> None:
        """Plan for `chain`."""
        require("planning", "motion planning")
        # Imports SciPy, OMPL and mink in a second of processor time; few processes need them.
        from mujoco_ros.controllers.planning.motion_planner import MotionPlanner

        self._make = MotionPlanner(chain).plan

    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Return a future that is done."""
        future: Future[MotionPlan] = Future()
        try:
            future.set_result(self._make(request))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing is ever under way."""


class ProcessPlanner:
    """Plans in a process of low priority, so that no other thread here waits for the GIL.

    It is started at once and ends with this process, however that ends. If it dies, the plan it was
    making fails with a PlannerDiedError, and the next one is made by a new process.
    """

    def __init__(self, chain: Chain) -> None:
        """Plan for `chain`."""
        require("planning", "motion planning")
        self._worker = WorkerProcess(_PROCESS, lambda: chain, PlannerDiedError)
        self._worker.start()

    @property
    def pid(self) -> int | None:
        """Return the number of the process, if one was started."""
        return self._worker.pid

    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Return a future that is done when the process has answered."""
        return self._worker.submit(request)

    def close(self) -> None:
        """Plan nothing more; what is under way fails."""
        self._worker.close()
