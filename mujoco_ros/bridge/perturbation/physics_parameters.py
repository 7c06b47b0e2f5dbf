"""The engine's physics options as parameters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import LONGEST_TIMESTEP, SHORTEST_TIMESTEP, PhysicsConfig
from mujoco_ros.model.scene.physics_options import CHOICES, read_options
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.options_check import try_options
from mujoco_ros.sim.simulation import Simulation

_PREFIX = "physics."
_LARGEST_INT = 2**31 - 1
_LARGEST = 1e9

PHYSICS_PARAMETERS = (
    ParameterSpec(
        name="physics.timestep",
        default=0.002,
        description="Simulated time of one step [s]",
        low=SHORTEST_TIMESTEP,
        high=LONGEST_TIMESTEP,
    ),
    ParameterSpec(
        name="physics.integrator",
        default="Euler",
        description="Numerical integrator",
        choices=tuple(CHOICES["integrator"]),
    ),
    ParameterSpec(
        name="physics.cone",
        default="pyramidal",
        description="Kind of contact friction cones",
        choices=tuple(CHOICES["cone"]),
    ),
    ParameterSpec(
        name="physics.solver",
        default="Newton",
        description="Algorithm of the constraint solver",
        choices=tuple(CHOICES["solver"]),
    ),
    ParameterSpec(
        name="physics.jacobian",
        default="auto",
        description="How constraint Jacobians are stored",
        choices=tuple(CHOICES["jacobian"]),
    ),
    ParameterSpec(
        name="physics.iterations",
        default=100,
        description="Most iterations of the constraint solver in a step",
        low=0,
        high=_LARGEST_INT,
    ),
    ParameterSpec(
        name="physics.ls_iterations",
        default=50,
        description="Most iterations of the line search in one of the solver",
        low=0,
        high=_LARGEST_INT,
    ),
    ParameterSpec(
        name="physics.tolerance",
        default=1e-8,
        description="Improvement at which the constraint solver stops early",
        low=0.0,
        high=_LARGEST,
    ),
    ParameterSpec(
        name="physics.impratio",
        default=1.0,
        description="How much harder friction is than the normal force, for elliptic cones",
        low=1e-6,
        high=_LARGEST,
    ),
    ParameterSpec(
        name="physics.gravity",
        default=(0.0, 0.0, -9.81),
        description="Gravitational acceleration in the world [m/s²]",
        low=-_LARGEST,
        high=_LARGEST,
    ),
    ParameterSpec(
        name="physics.wind",
        default=(0.0, 0.0, 0.0),
        description="Velocity of the medium in the world [m/s]",
        low=-_LARGEST,
        high=_LARGEST,
    ),
    ParameterSpec(
        name="physics.density",
        default=0.0,
        description="Density of the medium [kg/m³]; air has 1.2, water 1000",
        low=0.0,
        high=_LARGEST,
    ),
    ParameterSpec(
        name="physics.viscosity",
        default=0.0,
        description="Viscosity of the medium [kg/(ms)]; air has 1.8e-5, water 9e-4",
        low=0.0,
        high=_LARGEST,
    ),
)
"""Each option, by the name that a scene has for it; its default is what the model has."""


class PhysicsParameters(Component):
    """Declares them, and applies accepted ones between two steps.

    A reset leaves them as they are; a world that is loaded brings its own.
    """

    def __init__(self, parameters: Parameters, simulation: Simulation) -> None:
        """Declare them, and give `simulation`, which does not run yet, what the user wants.

        Raises:
            ModelError: The user gave a value that a parameter cannot take.
        """
        self._parameters = parameters
        self._simulation = simulation
        self._fresh = False
        self._wanted = of_model = simulation.options
        self._specs = [replace(spec, **_own(spec, of_model)) for spec in PHYSICS_PARAMETERS]
        values = parameters.declare(self._specs)
        self._wanted = replace(of_model, **_named(values))
        if self._wanted != of_model:
            try_options(simulation.model, self._wanted)
            simulation.set_options(self._wanted)

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that writes accepted options."""
        named = _named(values)
        if not named:
            return None
        self._wanted = replace(self._wanted, **named)
        # No others: meanwhile there may be another world, which has its own.
        return partial(self._simulation.set_options, PhysicsConfig(**named))

    def prepare(self, plant: Plant) -> None:
        """See whether the next world can have the options of this one, or those it brings.

        Raises:
            ModelError: It brings some that a parameter cannot take, or the engine does not run it
                with those of this one.
        """
        self._fresh = plant.fresh
        options = read_options(plant.model.opt)
        if not plant.fresh:
            if options != self._wanted:
                try_options(plant.model, self._wanted)
            return
        for spec in self._specs:
            if problem := spec.problem(_of(options, spec)):
                raise UserInputError(problem)

    def finish(self) -> None:
        """Tell what options a world that was loaded brought."""
        if self._fresh:
            self._wanted = self._simulation.options
            self._parameters.set({spec.name: _of(self._wanted, spec) for spec in self._specs})

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject options with which the engine does not run the model."""
        options = replace(self._wanted, **_named(values))
        if any(getattr(options, name) != getattr(self._wanted, name) for name in CHOICES):
            try:
                try_options(self._simulation.model, options)
            except UserInputError as error:
                named = ", ".join(
                    f"{name} = {value}"
                    for name, value in values.items()
                    if name.removeprefix(_PREFIX) in CHOICES
                )
                raise UserInputError(f"{named}: {error}") from error


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options among parameters."""
    return {
        name.removeprefix(_PREFIX): value
        for name, value in values.items()
        if name.startswith(_PREFIX)
    }


def _of(options: PhysicsConfig, spec: ParameterSpec) -> Any:
    return getattr(options, spec.name.removeprefix(_PREFIX))


def _own(spec: ParameterSpec, options: PhysicsConfig) -> dict[str, Any]:
    """Return the default that a model makes, and bounds that have room for it."""
    own = _of(options, spec)
    if spec.low is None or spec.high is None or spec.length:
        return {"default": own}
    return {"default": own, "low": min(spec.low, own), "high": max(spec.high, own)}
