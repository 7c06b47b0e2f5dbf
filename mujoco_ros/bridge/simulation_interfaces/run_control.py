"""Services that play, pause, step and reset the simulation."""

from collections.abc import Mapping
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.simulation_interfaces.entities.services import EntityServices
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.resetting import RESET_TIME, REWIND, ResetService
from mujoco_ros.bridge.simulation_interfaces.states import StateServices
from mujoco_ros.bridge.simulation_interfaces.stepping import SteppingServices
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.parameter_spec import ParameterSpec


class RunControlServices(Component):
    """Plays, pauses, steps and resets the simulation on request."""

    parameters = (
        ParameterSpec(
            RESET_TIME,
            REWIND,
            "Effect of a full reset on the clock: rewind sets the time to zero; "
            "continue keeps it; after divergence the clock always continues",
            choices=(REWIND, "continue"),
        ),
    )

    def __init__(
        self,
        context: NodeContext,
        interfaces: SimulationInterfaces,
        entities: EntityServices | None = None,
    ) -> None:
        """Serve GetSimulationState, SetSimulationState, ResetSimulation and stepping.

        Args:
            context: The node.
            interfaces: Serves them.
            entities: Spawns entities and loads worlds; None if the model never changes.
        """
        self._run, self._fresh = context.run, False
        self._reset = ResetService(
            context, interfaces, entities.spawning.delete_spawned if entities else None
        )
        StateServices(
            context, interfaces, self._reset, lambda: entities.worlds.state if entities else None
        )
        self._stepping = SteppingServices(context, interfaces)

    def apply_parameters(self, values: Mapping[str, Any]) -> None:
        """Apply `reset_time`."""
        if RESET_TIME in values:
            self._reset.update_features()

    def wait(self, now: float) -> float:
        """Make a clock in lockstep wait after a reset until the subscribers have its report."""
        return self._reset.wait(now)

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
