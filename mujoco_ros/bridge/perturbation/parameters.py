"""What acts on the simulated world by parameters."""

from collections.abc import Callable, Mapping
from typing import Any

from mujoco_ros.bridge.component import ModelChangeListener
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.bridge.perturbation.appearance_parameters import AppearanceParameters
from mujoco_ros.bridge.perturbation.equality_parameters import EqualityParameters
from mujoco_ros.bridge.perturbation.physics_parameters import PhysicsParameters
from mujoco_ros.sim.simulation import Simulation


class WorldParameters:
    """Physics options, equality constraints, colours and sizes.

    Attributes:
        followers: What goes along with changes of the model.
    """

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
        physics = PhysicsParameters(parameters, simulation)
        self._equalities = EqualityParameters(parameters, simulation, later)
        self._looks = AppearanceParameters(parameters, simulation)
        self._parts = (physics, self._equalities, self._looks)
        self.followers: tuple[ModelChangeListener, ...] = self._parts

    def start(self) -> None:
        """Apply what the user wants of parameters that were only offered so far."""
        self._looks.start()

    def change(self, values: Mapping[str, Any]) -> Callable[[], None]:
        """Return the command that makes accepted parameters take effect."""
        commands = [c for part in self._parts if (c := part.change(values)) is not None]

        def command() -> None:
            for each in commands:
                each()

        return command

    def restore(self) -> None:
        """Have the parameters tell the truth after a reset, or when a state was restored."""
        self._equalities.restore()
