"""Colours and sizes of named elements of the model, as parameters."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import mujoco

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.perturbation.element_names import element_parameter
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.appearance import (
    SIZES,
    Appearance,
    appearances,
    element,
    get_appearance,
    scratch_for,
)
from mujoco_ros.wire.parameter_spec import ParameterSpec

APPEARANCE = (
    ParameterSpec(
        "<kind>.<name>.rgba",
        (0.5, 0.5, 0.5, 1.0),
        "Colour: red, green, blue, and alpha, of which 0 is invisible",
        low=0.0,
        high=1.0,
    ),
    ParameterSpec(
        "geom.<name>.size",
        (0.1, 0.1, 0.1),
        "Size [m]: radius of a sphere, radius and half length of a capsule or cylinder, half "
        "lengths of a box, radii of an ellipsoid; other geoms have none",
        low=1e-6,
        high=1e6,
    ),
)
_RGBA, _SIZE = APPEARANCE


class AppearanceParameters(Component):
    """Offers a parameter for each; it is declared when it is first set, since a model has hundreds.

    A reset does not change them; a world that is loaded has its own.
    """

    def __init__(self, context: NodeContext) -> None:
        """Offer the parameters of the current model."""
        self._parameters, self._simulation = context.parameters, context.simulation
        self._elements: dict[str, Appearance] = {}
        self._next: dict[str, Appearance] = {}
        self._specs: dict[str, ParameterSpec] = {}
        self._scratch: mujoco.MjData | None = None  # of the next model
        self._fresh = False
        self.build(context.simulation.plant)
        self._offer()

    def apply_initial(self) -> None:
        """Apply the values that the user set at start, before the simulation runs."""
        self._simulation.set_appearance(self._changed_values())

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that writes colours and sizes."""
        mine = {self._elements[name]: v for name, v in values.items() if name in self._elements}
        if not mine:
            return None
        simulation, scratch = self._simulation, scratch_for(self._simulation.model, mine)
        return lambda: simulation.set_appearance(mine, scratch)

    def build(self, plant: Plant) -> None:
        """Find the parameters of the next model."""
        self._next, self._specs = {}, {}
        for appearance in appearances(plant.model):
            name = element_parameter(
                plant.layout, appearance.kind, appearance.name, appearance.property
            )
            self._next[name] = appearance
            self._specs[name] = _spec(name, appearance, plant)
        self._scratch = scratch_for(plant.model, self._changed_values())

    def prepare(self, plant: Plant) -> None:
        """Note whether the next model is another world."""
        self._fresh = plant.fresh

    def commit(self) -> None:
        """Apply the changed values to the elements that remain."""
        scratch, self._scratch = self._scratch, None
        if not self._fresh:
            self._simulation.set_appearance(self._changed_values(), scratch)

    def finish(self) -> None:
        """Offer the parameters of new elements; undeclare those of deleted ones."""
        kept = () if self._fresh else self._next
        self._parameters.withdraw([n for n in self._declared() if n not in kept])
        self._offer()

    def _offer(self) -> None:
        self._elements = self._next
        self._parameters.offer(self._specs)

    def _declared(self) -> list[str]:
        return [name for name in self._elements if name in self._parameters.values]

    def _changed_values(self) -> dict[Appearance, tuple[float, ...]]:
        values = self._parameters.values
        return {self._elements[name]: values[name] for name in self._declared()}


def _spec(name: str, appearance: Appearance, plant: Plant) -> ParameterSpec:
    value, model = get_appearance(plant.model, appearance), plant.model
    if appearance.property == "rgba":
        return replace(_RGBA, name=name, default=value)
    parts = SIZES[int(model.geom_type[element(model, appearance)])]
    description = f"Size: {', '.join(parts)} [m]"
    return replace(_SIZE, name=name, default=value, description=description)
