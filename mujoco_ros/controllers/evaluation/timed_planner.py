"""A planner that measures its computing time."""

from collections.abc import Callable
from concurrent.futures import Future

from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import InlinePlanner
from mujoco_ros.controllers.planning.requests import MotionPlan, Request

Clock = Callable[[], float]


class TimedPlanner(InlinePlanner):
    """Plans synchronously, and records the time of each plan.

    Attributes:
        durations: Type of request and time of each plan [s].
    """

    def __init__(self, chain: Chain, clock: Clock, durations: list[tuple[str, float]]) -> None:
        """Plan for a chain; append to `durations` the differences of `clock` [s]."""
        super().__init__(chain)
        self._clock, self.durations = clock, durations

    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Plan and measure the time."""
        begin = self._clock()
        future = super().submit(request)
        self.durations.append((type(request).__name__, self._clock() - begin))
        return future
