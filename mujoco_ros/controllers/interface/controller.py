"""The protocol of a controller; the same code runs in the simulator and on a robot."""

from concurrent.futures import Future
from typing import Any, Protocol

from mujoco_ros.control.references import References
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel


class Controller(Protocol):
    """Computes joint references from observations at a fixed rate.

    A host calls `configure` once, `follow` after every change of the scene, `reset` after every
    reset of the simulation, and `step` at every tick. An exception in `step` stops the controller,
    and the robot holds its position.

    Attributes:
        period: Time between two ticks [s].
        awaited: Futures that the next tick needs. A simulator stops the clock until they are done,
            so that results do not depend on computing time; a real robot does not wait.
    """

    period: float
    awaited: list[Future[Any]]

    def configure(self, robot: RobotModel) -> None:
        """Prepare for a robot.

        Raises:
            UserInputError: The controller cannot command this robot.
        """

    def follow(self, robot: RobotModel) -> None:
        """Continue with the same robot in another scene: objects or other robots have changed."""

    def reset(self) -> None:
        """Return to the state after `configure`."""

    def step(self, observation: Observation, t: float) -> References:
        """Return the references of the tick at time `t` [s]; NaN leaves a value unchanged.

        The host copies the references, so the same object may be returned every time.
        """
