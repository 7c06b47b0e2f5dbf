"""Services that play, pause, step and reset the simulation."""

from collections.abc import Callable, Mapping
from typing import Any

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.resetting import DeleteSpawned, ResetService
from mujoco_ros.bridge.simulation_interfaces.states import StateServices
from mujoco_ros.bridge.simulation_interfaces.stepping import SteppingServices
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.stepping.run_control import RunControl

_RESET_TIME = "reset_time"
REWIND = "rewind"


class RunControlServices(Component):
    """Plays, pauses, steps and resets the simulation on request."""

    parameters = (
        ParameterSpec(
            name=_RESET_TIME,
            default=REWIND,
            description="What a full reset does to the clock: rewind it to zero, or let it "
            "continue, so that no subscriber sees time jump back; after divergence it always "
            "continues",
            choices=(REWIND, "continue"),
        ),
    )

    def __init__(
        self,
        interfaces: SimulationInterfaces,
        endpoints: Endpoints,
        commands: CommandQueue,
        run: RunControl,
        *,
        quit: Callable[[], object],
        rewinds: bool = True,
        delete_spawned: DeleteSpawned | None = None,
        world_state: Callable[[], int | None] | None = None,
    ) -> None:
        """Serve GetSimulationState, SetSimulationState, ResetSimulation and stepping.

        Args:
            interfaces: Serves them.
            endpoints: Opens topics.
            commands: Queue of the physics thread.
            run: Run control of the simulation.
            quit: Ends the simulator soon; called in the executor's thread.
            rewinds: Whether a reset sets the time to zero; otherwise the clock goes on.
            delete_spawned: Deletes what was spawned; None if nothing can be spawned.
            world_state: Returns STATE_NO_WORLD or STATE_LOADING_WORLD while there is no world, or
                None; without it there always is one.
        """
        self._run, self._fresh = run, False
        self._reset = ResetService(interfaces, endpoints, commands, run, rewinds, delete_spawned)
        StateServices(interfaces, commands, run, self._reset, quit, world_state)
        self._stepping = SteppingServices(interfaces, endpoints, commands, run)

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        """Follow `reset_time`."""
        if _RESET_TIME in values:
            self._reset.rewinds = values[_RESET_TIME] == REWIND

    def on_reset(self, event: SimulationReset) -> None:
        """Publish the reset on ``~/reset_event``."""
        self._reset.publish(event)

    def prepare(self, plant: Plant) -> None:
        """Note whether the next model is another world."""
        self._fresh = plant.fresh

    def commit(self) -> None:
        """End the steps that were requested in the previous world."""
        if self._fresh:
            self._run.end_steps("another world was loaded")

    def close(self) -> None:
        """End all goals, after the physics thread has ended."""
        if self._stepping.goals is not None:
            self._stepping.goals.close("the simulator ended")
            self._stepping.goals.flush()
