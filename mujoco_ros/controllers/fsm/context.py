"""The inputs and outputs of a state during one tick."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from mujoco_ros.control.references import References
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store


@dataclass(kw_only=True, slots=True)
class StateContext:
    """One tick of a controller.

    Attributes:
        robot: The controlled robot.
        store: Values shared by the states and the host.
        references: Joint references; they keep the values of the last tick, so a state writes only
            what it changes.  # (3, n)
        observation: Observation of this tick.
        time: Time of the tick [s].
        elapsed: Time since the start of the state [s]; 0 in `start` and in the first `run`.
        period: Time between two ticks [s].
        seed: Seed of all random numbers.
        awaited: Futures that the next tick needs. A simulator stops the clock until they are done.
            A real robot cannot, so the state must handle a future that is not done. Empty at the
            start of every tick.
        reason: Why the state ends, for events, logs and statistics. Empty at the start of every
            `run`.
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

    def has_elapsed(self, duration: float) -> bool:
        """Return whether the state has run for `duration` [s], within half a period."""
        return self.elapsed > duration - 0.5 * self.period
