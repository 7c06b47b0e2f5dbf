"""The way of commands from the executor's thread to the physics thread."""

from collections.abc import Callable
from concurrent.futures import Future

from mujoco_ros.control.events import Failed
from mujoco_ros.ros.goals import Goal
from mujoco_ros.ros.refusals import Refusals
from mujoco_ros.sim.commands import QueueFullError
from mujoco_ros.sim.simulation import Simulation


class Submit:
    """Has the physics thread run commands between two steps."""

    def __init__(self, simulation: Simulation, refusals: Refusals) -> None:
        """Hand commands to `simulation`, and report to `refusals` what it cannot take."""
        self._simulation = simulation
        self._refusals = refusals

    def __call__(
        self, topic: str, command: Callable[[float], None], goal: Goal | None = None
    ) -> None:
        """Submit a command.

        Args:
            topic: The topic or action it came by.
            command: Called with the simulated time of the next step [s].
            goal: Ended if the command cannot be taken.
        """
        simulation = self._simulation

        def failed(future: Future[None]) -> None:
            error = None if future.cancelled() else future.exception()
            if error is not None:
                simulation.emit(Failed(topic=topic, message=repr(error), goal=goal))

        try:
            future = simulation.commands.submit(lambda: command(float(simulation.data.time)))
        except QueueFullError as error:
            self._refusals.report(topic, "refused", str(error))
            if goal is not None:
                goal.give_up(str(error))
            return
        future.add_done_callback(failed)
