"""Whether equality constraints hold, as parameters."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.perturbation.element_names import element_parameter
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.sim.command_queue import QueueFullError
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation

EQUALITY = ParameterSpec(
    name="equality.<name>",
    default=True,
    description="Whether the equality constraint holds",
)
_TYPES = {
    int(mujoco.mjtEq.mjEQ_CONNECT): "that connects two bodies at a point",
    int(mujoco.mjtEq.mjEQ_WELD): "that welds two bodies together",
    int(mujoco.mjtEq.mjEQ_JOINT): "between two joints",
    int(mujoco.mjtEq.mjEQ_TENDON): "between two tendons",
}


class EqualityParameters(Component):
    """Declares them, applies accepted ones, and tells what a reset or a snapshot made of them."""

    def __init__(
        self, parameters: Parameters, simulation: Simulation, later: Callable[..., object]
    ) -> None:
        """Declare them, and give `simulation`, which does not run yet, what the user wants.

        Args:
            parameters: The node's parameters.
            simulation: What they act on.
            later: Has a function called in the executor's thread, with the arguments after it.

        Raises:
            ModelError: The user gave a value that a parameter cannot take.
        """
        self._later = later
        self._parameters = parameters
        self._simulation = simulation
        self._elements: dict[str, str] = {}  # parameter to name in the model
        self._next: dict[str, str] = {}
        self._added: list[str] = []
        self._changes = 0
        self._telling = False
        self.prepare(simulation.plant)
        self._elements, self._added = self._next, []
        for parameter, element in self._elements.items():
            value, model = parameters.values[parameter], simulation.model
            # A reset goes back to what the user configured.
            model.eq_active0[_index(model, element)] = value
            simulation.data.eq_active[_index(model, element)] = value

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that switches constraints."""
        # A client may be quicker than `finish`; its command then comes after the change.
        known = {**self._elements, **self._next}
        mine = {known[name]: value for name, value in values.items() if name in known}
        if self._telling or not mine:
            return None
        self._changes += 1
        simulation = self._simulation

        def command() -> None:
            for element, value in mine.items():
                if (index := _index(simulation.model, element)) >= 0:
                    simulation.data.eq_active[index] = value

        return command

    def on_reset(self, event: SimulationReset) -> None:
        """Show which constraints are active after a reset."""
        if event.state:
            self._restore()

    def _restore(self) -> None:
        """Show which constraints are active, after something else than a parameter changed it."""
        if not self._elements:
            return
        changes = self._changes
        simulation = self._simulation

        def look() -> tuple[mujoco.MjModel, np.ndarray]:
            return simulation.model, simulation.data.eq_active.copy()

        def seen(future: "Future[tuple[mujoco.MjModel, np.ndarray]]") -> None:
            if not future.cancelled():
                self._later(self._tell, changes, *future.result())

        try:
            simulation.commands.submit(look, urgent=True).add_done_callback(seen)
        except QueueFullError:
            return  # the physics thread has ended

    def prepare(self, plant: Plant) -> None:
        """Declare those of what the next model adds.

        Raises:
            ModelError: Two would have the same name.
        """
        self._next = {
            element_parameter(plant.layout, "equality", name): name for name in _names(plant.model)
        }
        for parameter, element in self._next.items():
            if parameter in self._elements:
                continue
            index = _index(plant.model, element)
            kind = _TYPES.get(int(plant.model.eq_type[index]), "")
            spec = ParameterSpec(
                name=parameter,
                default=bool(plant.model.eq_active0[index]),
                description=f"{EQUALITY.description} {kind}".rstrip(),
            )
            self._parameters.declare([spec])
            self._added.append(parameter)

    def finish(self) -> None:
        """Undeclare those of what is gone, and tell what holds."""
        gone = [name for name in self._elements if name not in self._next]
        self._elements, self._added = self._next, []
        self._parameters.withdraw(gone)
        self._restore()

    def rollback(self) -> None:
        """Undeclare what was declared for a model that does not come."""
        self._parameters.withdraw(self._added)
        self._added = []

    def _tell(self, changes: int, model: mujoco.MjModel, active: np.ndarray) -> None:
        if changes != self._changes or model is not self._simulation.model:
            self._restore()  # a client was quicker
            return
        wrong = {}
        for parameter, element in self._elements.items():
            index = _index(model, element)
            if index >= 0 and bool(active[index]) != self._parameters.values[parameter]:
                wrong[parameter] = bool(active[index])
        if wrong:
            self._telling = True
            try:
                self._parameters.set(wrong)
            finally:
                self._telling = False


def _names(model: mujoco.MjModel) -> list[str]:
    return [name for i in range(model.neq) if (name := _name(model, i))]


def _name(model: mujoco.MjModel, index: int) -> str:
    return model.equality(index).name or ""


def _index(model: mujoco.MjModel, element: str) -> int:
    return int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_EQUALITY, element))
