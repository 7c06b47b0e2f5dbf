"""Equality constraints of the model, switched on and off by parameters."""

from collections.abc import Mapping
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.perturbation.element_names import element_parameter
from mujoco_ros.bridge.physics_query import query
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.equalities import EqualitySettings
from mujoco_ros.wire.parameter_spec import ParameterSpec

EQUALITY = ParameterSpec("equality.<name>", True, "Whether the equality constraint is active")


class EqualityParameters(Component):
    """A view of the simulation's `EqualitySettings`: a parameter for each named constraint."""

    def __init__(self, context: NodeContext) -> None:
        """Declare them, and configure the simulation by their values.

        Raises:
            UserInputError: The user gave a value that a parameter cannot take.
        """
        self._node, self._parameters = context.node, context.parameters
        self._simulation = simulation = context.simulation
        self._constraints: dict[str, str] = {}  # parameter to name in the model
        self._next: dict[str, str] = {}
        self._added: list[str] = []
        self._changes = 0
        self.prepare(simulation.plant)
        self._constraints, self._added = self._next, []
        for parameter, constraint in self._constraints.items():
            simulation.equalities.configure(constraint, context.values[parameter])

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that switches constraints."""
        # A client may be quicker than `finish`; its command then comes after the change.
        known = {**self._constraints, **self._next}
        wanted = {known[name]: value for name, value in values.items() if name in known}
        if not wanted:
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
            description = f"{EQUALITY.description} {constraint.kind}".rstrip()
            spec = ParameterSpec(parameter, constraint.initially_active, description)
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

        def show(result: tuple[EqualitySettings, dict[str, bool]]) -> None:
            owner, active = result
            if changes != self._changes or owner is not simulation.equalities:
                self._show()  # a client was quicker
                return
            self._parameters.show(
                {
                    parameter: active[constraint]
                    for parameter, constraint in self._constraints.items()
                    if constraint in active
                }
            )

        query(self._node, simulation.commands, read, show)
