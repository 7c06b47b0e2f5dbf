"""One state of a controller: what it does, and how it can end."""

from typing import TYPE_CHECKING, Any, ClassVar

from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store

if TYPE_CHECKING:
    from mujoco_ros.controllers.fsm.context import StateContext


class State:
    """What a controller does until it has an outcome.

    A class is registered under its name; a table names it, configures it and says what follows
    each of its outcomes. An instance lives as long as its controller, so `start` sets all there is
    to remember.

    Attributes:
        outcomes: All that `run` may return.
        failures: Those of them that mean failure.
        Config: A frozen dataclass of the state's settings, read strictly from the table.
        config: The settings; the machine replaces them before `start` where a host changed them.
    """

    outcomes: ClassVar[tuple[str, ...]] = ()
    failures: ClassVar[tuple[str, ...]] = ()
    Config: ClassVar[type[Any] | None] = None

    def __init__(self, config: Any = None) -> None:
        """Keep the settings."""
        self.config = config

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Get ready for a robot; called once, before anything else: what takes long belongs here.

        Raises:
            ModelError: The robot lacks what the state needs.
        """

    def start(self, context: "StateContext") -> None:
        """Begin; called once before the first `run`, in the same tick."""

    def run(self, context: "StateContext") -> str | None:
        """Do one tick; return an outcome when it is over.

        Where a transition waits for somebody's request, it goes on being called, so that it can go
        on holding. Another outcome that it returns then takes the place of the first.
        """
        raise NotImplementedError

    def teardown(self, context: "StateContext") -> None:
        """End, after an outcome, a request, a time-out, an error or a reset; must not raise."""
