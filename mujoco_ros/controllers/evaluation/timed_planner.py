"""Planning that is timed, where somebody else knows what time it is."""

from collections.abc import Callable
from concurrent.futures import Future

from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import InlinePlanner
from mujoco_ros.controllers.planning.requests import MotionPlan, Request

Clock = Callable[[], float]


class TimedPlanner(InlinePlanner):
    """Plans at once, and notes how long it took.

    Attributes:
        durations: Of all plans, by kind of request [s].
    """

    def __init__(self, chain: Chain, clock: Clock, durations: list[tuple[str, float]]) -> None:
        """Plan for a chain.

        Args:
            chain: The chain.
            clock: Tells the time [s].
            durations: Where to write how long which kind of request took.
        """
        super().__init__(chain)
        self._clock, self.durations = clock, durations

    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Plan."""
        begin = self._clock()
        future = super().submit(request)
        self.durations.append((type(request).__name__, self._clock() - begin))
        return future
