"""What a state works with."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from mujoco_ros.control.references import References
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store


@dataclass(kw_only=True, slots=True)
class StateContext:
    """One tick of a controller, handed to its present state.

    Attributes:
        robot: The robot.
        store: What states and host share.
        references: What the joints are told; they keep the values of the tick before, so a state
            writes what it changes.  # (3, n)
        observation: What is seen now.
        time: Of the tick [s].
        elapsed: Since the state's start [s]; 0 in `start` and in the first `run`.
        period: Time between two ticks [s].
        seed: From which everything random is derived.
        awaited: Where a state puts results that it needs at the next tick: a simulator stands
            still until they are there. A robot cannot, so the state has to be ready for one that
            is not. Empty at the beginning of every tick.
        reason: Why the state ends as it does, in words: for events, logs and statistics. Empty at
            the beginning of every `run`.
    """

    robot: RobotModel
    store: Store
    references: References
    observation: Observation
    period: float
    seed: int = 0
    time: float = 0.0
    elapsed: float = 0.0
    awaited: list[Future[Any]] = field(default_factory=list)
    reason: str = ""

    def over(self, duration: float) -> bool:
        """Return whether so long [s] has passed since the state's start, to half a period."""
        return self.elapsed > duration - 0.5 * self.period
