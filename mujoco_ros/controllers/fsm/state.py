"""Base class of the states of a controller, and the inputs and outputs of a tick."""

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ClassVar

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


class State:
    """One behaviour of a controller; it runs until it returns an outcome.

    A table refers to the class by name, sets its configuration and maps each outcome to the next
    state. One instance serves all runs of the state, so `start` must reset all attributes.

    Attributes:
        outcomes: All values that `run` may return.
        failures: The outcomes that mean failure.
        Config: Frozen dataclass of the settings, read strictly from the table.
        config: The settings; the machine sets changed ones before `start`.
    """

    outcomes: ClassVar[tuple[str, ...]] = ()
    failures: ClassVar[tuple[str, ...]] = ()
    Config: ClassVar[type[Any] | None] = None

    def __init__(self, config: Any = None) -> None:
        self.config = config

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Prepare for a robot, once and before all other calls; long computations belong here.

        Raises:
            UserInputError: The robot lacks a joint, sensor or site that the state needs.
        """

    def start(self, context: StateContext) -> None:
        """Start; called once, in the same tick as the first `run`."""

    def run(self, context: StateContext) -> str | None:
        """Run one tick; return an outcome when the state has finished.

        While the transition waits for a request, `run` is still called, so that the state can hold
        the joints. Another outcome then replaces the first one.
        """
        raise NotImplementedError

    def teardown(self, context: StateContext) -> None:
        """Stop after an outcome, a request, a timeout, an error or a reset; must not raise."""
