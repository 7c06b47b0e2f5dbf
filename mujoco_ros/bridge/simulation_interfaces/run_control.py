"""All services that play, pause, step and reset the simulation."""

from collections.abc import Callable

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.resetting import ResetService
from mujoco_ros.bridge.simulation_interfaces.states import StateServices
from mujoco_ros.bridge.simulation_interfaces.stepping import SteppingServices
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.stepping.run_control import RunControl


class RunControlServices(ModelChangeListener):
    """Plays, pauses, steps and resets the simulation when asked to.

    Attributes:
        resetting: Resets, and tells of it.
        states: The present state.
    """

    def __init__(
        self,
        interfaces: SimulationInterfaces,
        endpoints: Endpoints,
        commands: CommandQueue,
        run: RunControl,
        leave: Callable[[], object],
    ) -> None:
        """Serve all of it.

        Args:
            interfaces: Where it is served.
            endpoints: Opens topics.
            commands: The way into the physics thread.
            run: Decides whether the simulation runs.
            leave: Ends the simulator soon; called in the executor's thread.
        """
        self._run, self._fresh = run, False
        self.resetting = ResetService(interfaces, endpoints, commands, run)
        self.states = StateServices(interfaces, commands, run, self.resetting, leave)
        self._stepping = SteppingServices(interfaces, endpoints, commands, run)

    def prepare(self, plant: Plant) -> None:
        """Note whether another world comes."""
        self._fresh = plant.fresh

    def switch(self) -> None:
        """Take no more steps in another world than those that are asked for there."""
        if self._fresh:
            self._run.end_steps("another world was loaded")

    def close(self, reason: str) -> None:
        """End what is still pursued, after the physics thread ended."""
        if self._stepping.goals is not None:
            self._stepping.goals.close(reason)
            self._stepping.goals.flush()
