"""Physics options of the engine, as parameters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.limits import MAX_ITERATIONS
from mujoco_ros.model.scene.physics_options import (
    CHOICES,
    MAX_TIMESTEP,
    MIN_TIMESTEP,
    PhysicsConfig,
    read_options,
)
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.model_settings import try_options
from mujoco_ros.wire.parameter_spec import ParameterSpec

_PREFIX = "physics."
_LARGEST = 1e9
_OPTIONS: dict[str, tuple[Any, str]] = {
    "timestep": (0.002, "Simulated time of one step [s]"),
    "integrator": ("Euler", "Numerical integrator"),
    "cone": ("pyramidal", "Kind of contact friction cone"),
    "solver": ("Newton", "Algorithm of the constraint solver"),
    "jacobian": ("auto", "How constraint Jacobians are stored"),
    "iterations": (100, "Maximum number of iterations of the constraint solver in a step"),
    "ls_iterations": (50, "Maximum number of line-search iterations in a solver iteration"),
    "tolerance": (1e-8, "Improvement below which the constraint solver stops"),
    "impratio": (
        1.0,
        "Ratio of frictional to normal constraint impedance, for elliptic cones",
    ),
    "gravity": ((0.0, 0.0, -9.81), "Gravitational acceleration in the world [m/s²]"),
    "wind": ((0.0, 0.0, 0.0), "Velocity of the medium in the world [m/s]"),
    "density": (0.0, "Density of the medium [kg/m³]; air has 1.2, water 1000"),
    "viscosity": (0.0, "Viscosity of the medium [kg/(ms)]; air has 1.8e-5, water 9e-4"),
}
_BOUNDS: dict[str, tuple[Any, Any]] = {
    "timestep": (MIN_TIMESTEP, MAX_TIMESTEP),
    "impratio": (1e-6, _LARGEST),
}
_BOUNDS_OF_TYPE: dict[type, tuple[Any, Any]] = {
    str: (None, None),
    int: (0, MAX_ITERATIONS),
    float: (0.0, _LARGEST),
    tuple: (-_LARGEST, _LARGEST),
}


def _option(name: str, default: Any, description: str) -> ParameterSpec:
    low, high = _BOUNDS.get(name, _BOUNDS_OF_TYPE[type(default)])
    choices = tuple(CHOICES.get(name, ()))
    return ParameterSpec(_PREFIX + name, default, description, low=low, high=high, choices=choices)


PHYSICS_PARAMETERS = tuple(_option(name, *row) for name, row in _OPTIONS.items())
"""Each option, by its name in scenes; its default is the value of the model."""


class PhysicsParameters(Component):
    """A view of the physics options of the simulation.

    A reset does not change them; a world that is loaded has its own.
    """

    def __init__(self, context: NodeContext) -> None:
        self._parameters = context.parameters
        self._simulation = simulation = context.simulation
        self._requested = of_model = simulation.options
        self._specs = [replace(spec, **_own(spec, of_model)) for spec in PHYSICS_PARAMETERS]
        values = self._parameters.declare(self._specs)
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
        """Check the options of the next model: its own for another world, else the current ones."""
        options = read_options(plant.model.opt)
        if not plant.fresh:
            if options != self._requested:
                try_options(plant.model, self._requested)
            return
        for spec in self._specs:
            if problem := spec.problem(_value(options, spec)):
                raise UserInputError(problem)

    def finish(self) -> None:
        """Show the options of a world that was loaded."""
        if self._simulation.plant.fresh:
            self._requested = self._simulation.options
            self._parameters.show(
                {spec.name: _value(self._requested, spec) for spec in self._specs}
            )

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
    return {
        name.removeprefix(_PREFIX): value
        for name, value in values.items()
        if name.startswith(_PREFIX)
    }


def _value(options: PhysicsConfig, spec: ParameterSpec) -> Any:
    return getattr(options, spec.name.removeprefix(_PREFIX))


def _own(spec: ParameterSpec, options: PhysicsConfig) -> dict[str, Any]:
    """Return the default from a model, and bounds that include it."""
    own = _value(options, spec)
    if spec.low is None or spec.high is None or spec.length:
        return {"default": own}
    return {"default": own, "low": min(spec.low, own), "high": max(spec.high, own)}
