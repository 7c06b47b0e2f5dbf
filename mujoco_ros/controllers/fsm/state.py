"""Base class of the states of a controller."""

from typing import TYPE_CHECKING, Any, ClassVar

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store

if TYPE_CHECKING:
    from mujoco_ros.controllers.fsm.context import StateContext


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
            UserInputError: The robot lacks something that the state needs.
        """

    def start(self, context: "StateContext") -> None:
        """Start; called once, in the same tick as the first `run`."""

    def run(self, context: "StateContext") -> str | None:
        """Run one tick; return an outcome when the state has finished.

        While the transition waits for a request, `run` is still called, so that the state can hold
        the joints. Another outcome then replaces the first one.
        """
        raise NotImplementedError

    def teardown(self, context: "StateContext") -> None:
        """Stop after an outcome, a request, a timeout, an error or a reset; must not raise."""
