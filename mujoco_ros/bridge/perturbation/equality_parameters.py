"""Equality constraints of the model, switched on and off by parameters."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Command, Parameters
from mujoco_ros.bridge.perturbation.element_names import element_parameter
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.sim.command_queue import QueueFullError
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.equalities import EqualitySettings
from mujoco_ros.sim.simulation import Simulation

EQUALITY = ParameterSpec(
    name="equality.<name>",
    default=True,
    description="Whether the equality constraint is active",
)


class EqualityParameters(Component):
    """A view of the simulation's `EqualitySettings`: a parameter for each named constraint."""

    def __init__(
        self, parameters: Parameters, simulation: Simulation, later: Callable[..., object]
    ) -> None:
        """Declare them, and configure `simulation`, which does not run yet, by their values.

        Args:
            parameters: The node's parameters.
            simulation: The simulation.
            later: Calls a function in the executor's thread, with the arguments that follow it.

        Raises:
            UserInputError: The user gave a value that a parameter cannot take.
        """
        self._later = later
        self._parameters = parameters
        self._simulation = simulation
        self._constraints: dict[str, str] = {}  # parameter to name in the model
        self._next: dict[str, str] = {}
        self._added: list[str] = []
        self._changes = 0
        self._showing = False
        self.prepare(simulation.plant)
        self._constraints, self._added = self._next, []
        for parameter, constraint in self._constraints.items():
            simulation.equalities.configure(constraint, parameters.values[parameter])

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that switches constraints."""
        # A client may be quicker than `finish`; its command then comes after the change.
        known = {**self._constraints, **self._next}
        wanted = {known[name]: value for name, value in values.items() if name in known}
        if self._showing or not wanted:
            return None
        self._changes += 1
        simulation = self._simulation

        def command() -> None:
            for constraint, active in wanted.items():
                simulation.equalities.set(constraint, active)

        return command

    def on_reset(self, event: SimulationReset) -> None:
        """Show which constraints are active after a reset."""
        if event.state:
            self._show()

    def prepare(self, plant: Plant) -> None:
        """Declare parameters for the constraints that the next model adds.

        Raises:
            UserInputError: Two would have the same name.
        """
        named = {
            element_parameter(plant.layout, "equality", constraint.name): constraint
            for constraint in plant.equalities.constraints
        }
        self._next = {parameter: constraint.name for parameter, constraint in named.items()}
        for parameter, constraint in named.items():
            if parameter in self._constraints:
                continue
            spec = ParameterSpec(
                name=parameter,
                default=constraint.initially_active,
                description=f"{EQUALITY.description} {constraint.kind}".rstrip(),
            )
            self._parameters.declare([spec])
            self._added.append(parameter)

    def finish(self) -> None:
        """Undeclare the parameters of constraints that are gone, and show which are active."""
        gone = [name for name in self._constraints if name not in self._next]
        self._constraints, self._added = self._next, []
        self._parameters.withdraw(gone)
        self._show()

    def rollback(self) -> None:
        """Undeclare the parameters that `prepare` declared."""
        self._parameters.withdraw(self._added)
        self._added = []

    def _show(self) -> None:
        """Set the parameters to what is active, after something else changed it."""
        if not self._constraints:
            return
        changes, simulation = self._changes, self._simulation

        def read() -> tuple[EqualitySettings, dict[str, bool]]:
            return simulation.equalities, simulation.equalities.active()

        def done(future: "Future[tuple[EqualitySettings, dict[str, bool]]]") -> None:
            if not future.cancelled():
                self._later(self._set, changes, *future.result())

        try:
            simulation.commands.submit(read, urgent=True).add_done_callback(done)
        except QueueFullError:
            return  # the physics thread has ended

    def _set(self, changes: int, owner: EqualitySettings, active: dict[str, bool]) -> None:
        if changes != self._changes or owner is not self._simulation.equalities:
            self._show()  # a client was quicker
            return
        wrong = {
            parameter: active[constraint]
            for parameter, constraint in self._constraints.items()
            if active.get(constraint, self._parameters.values[parameter])
            != self._parameters.values[parameter]
        }
        if wrong:
            self._showing = True
            try:
                self._parameters.set(wrong)
            finally:
                self._showing = False
