"""Physics options of the engine, as parameters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import MAX_TIMESTEP, MIN_TIMESTEP, PhysicsConfig
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
        low=MIN_TIMESTEP,
        high=MAX_TIMESTEP,
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
        description="Kind of contact friction cone",
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
        description="Maximum number of iterations of the constraint solver in a step",
        low=0,
        high=_LARGEST_INT,
    ),
    ParameterSpec(
        name="physics.ls_iterations",
        default=50,
        description="Maximum number of line-search iterations in a solver iteration",
        low=0,
        high=_LARGEST_INT,
    ),
    ParameterSpec(
        name="physics.tolerance",
        default=1e-8,
        description="Improvement below which the constraint solver stops",
        low=0.0,
        high=_LARGEST,
    ),
    ParameterSpec(
        name="physics.impratio",
        default=1.0,
        description="Ratio of frictional to normal constraint impedance, for elliptic cones",
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
"""Each option, by its name in scenes; its default is the value of the model."""


class PhysicsParameters(Component):
    """A view of the physics options of the simulation.

    A reset does not change them; a world that is loaded has its own.
    """

    def __init__(self, parameters: Parameters, simulation: Simulation) -> None:
        """Declare them, and apply the values that the user set to `simulation`.

        Raises:
            UserInputError: The user set an invalid value.
        """
        self._parameters = parameters
        self._simulation = simulation
        self._fresh = False
        self._requested = of_model = simulation.options
        self._specs = [replace(spec, **_own(spec, of_model)) for spec in PHYSICS_PARAMETERS]
        values = parameters.declare(self._specs)
        self._requested = replace(of_model, **_named(values))
        if self._requested != of_model:
            try_options(simulation.model, self._requested)
            simulation.set_options(self._requested)

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that writes accepted options."""
        named = _named(values)
        if not named:
            return None
        self._requested = replace(self._requested, **named)
        # Only these: meanwhile there may be another world with its own options.
        return partial(self._simulation.set_options, PhysicsConfig(**named))

    def prepare(self, plant: Plant) -> None:
        """Check the options of the next model: its own for another world, else the current ones.

        Raises:
            UserInputError: A parameter cannot hold one of its own, or the engine does not run the
                model with the current ones.
        """
        self._fresh = plant.fresh
        options = read_options(plant.model.opt)
        if not plant.fresh:
            if options != self._requested:
                try_options(plant.model, self._requested)
            return
        for spec in self._specs:
            if problem := spec.problem(_of(options, spec)):
                raise UserInputError(problem)

    def finish(self) -> None:
        """Show the options of a world that was loaded."""
        if self._fresh:
            self._requested = self._simulation.options
            self._parameters.set({spec.name: _of(self._requested, spec) for spec in self._specs})

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject options with which the engine does not run the model."""
        options = replace(self._requested, **_named(values))
        if any(getattr(options, name) != getattr(self._requested, name) for name in CHOICES):
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
    """Return the physics options among parameters."""
    return {
        name.removeprefix(_PREFIX): value
        for name, value in values.items()
        if name.startswith(_PREFIX)
    }


def _of(options: PhysicsConfig, spec: ParameterSpec) -> Any:
    return getattr(options, spec.name.removeprefix(_PREFIX))


def _own(spec: ParameterSpec, options: PhysicsConfig) -> dict[str, Any]:
    """Return the default from a model, and bounds that include it."""
    own = _of(options, spec)
    if spec.low is None or spec.high is None or spec.length:
        return {"default": own}
    return {"default": own, "low": min(spec.low, own), "high": max(spec.high, own)}
