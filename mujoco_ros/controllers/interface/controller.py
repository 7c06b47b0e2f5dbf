"""What runs in the simulator and on the robot unchanged."""

from concurrent.futures import Future
from typing import Any, Protocol

from mujoco_ros.control.references import References
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel


class Controller(Protocol):
    """Turns what is observed into what the joints are told, at a rate of its own.

    A host calls `configure` once, `reset` whenever the simulation is reset, and `step` at every
    tick. Whatever `step` raises ends the controller: the robot holds where it is.

    Attributes:
        period: Time between two ticks [s].
        awaited: Results that the last tick asked for. In a simulator there is no next tick before
            they are there, so that a run does not depend on how long they take; on a robot time
            goes on.
    """

    period: float
    awaited: list[Future[Any]]

    def configure(self, robot: RobotModel) -> None:
        """Get ready for a robot.

        Raises:
            ModelError: The robot is not one this controller can command.
        """

    def reset(self) -> None:
        """Begin anew, as just configured."""

    def step(self, observation: Observation, t: float) -> References:
        """Return the references of the tick at time `t` [s]; NaN leaves a value as it is.

        The same object may be returned every time; the host copies what it needs.
        """
