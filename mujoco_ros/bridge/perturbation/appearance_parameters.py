"""Colours and sizes of a model's named elements as parameters."""

from collections.abc import Callable, Mapping
from typing import Any

import mujoco

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Parameters
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
from mujoco_ros.sim.simulation import Simulation

LOOKS = (
    ParameterSpec(
        name="<kind>.<name>.rgba",
        default=(0.5, 0.5, 0.5, 1.0),
        description="Colour: red, green, blue, and alpha, of which 0 is invisible",
        low=0.0,
        high=1.0,
    ),
    ParameterSpec(
        name="geom.<name>.size",
        default=(0.1, 0.1, 0.1),
        description="Size [m]: radius of a sphere, radius and half length of a capsule or cylinder,"
        " half lengths of a box, radii of an ellipsoid; other geoms have none",
        low=1e-6,
        high=1e6,
    ),
)
_RGBA, _SIZE = LOOKS


class AppearanceParameters(Component):
    """Offers them; each is declared when it is first set, since a model has hundreds.

    A reset leaves them as they are; a world that is loaded brings its own.
    """

    def __init__(self, parameters: Parameters, simulation: Simulation) -> None:
        """Offer those of the present model."""
        self._parameters = parameters
        self._simulation = simulation
        self._looks: dict[str, Appearance] = {}
        self._next: dict[str, Appearance] = {}
        self._specs: dict[str, ParameterSpec] = {}
        self._scratch: mujoco.MjData | None = None  # of the next model
        self._fresh = False
        self.build(simulation.plant)
        self._offer()

    def start(self) -> None:
        """Give the simulation, which does not run yet, what the user wants."""
        self._simulation.set_appearance(self._changed())

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that writes colours and sizes."""
        mine = {self._looks[name]: v for name, v in values.items() if name in self._looks}
        if not mine:
            return None
        simulation, scratch = self._simulation, scratch_for(self._simulation.model, mine)
        return lambda: simulation.set_appearance(mine, scratch)

    def build(self, plant: Plant) -> None:
        """See what the next model offers."""
        self._next, self._specs = {}, {}
        for look in appearances(plant.model):
            name = element_parameter(plant.layout, look.kind, look.name, look.property)
            self._next[name] = look
            self._specs[name] = _spec(name, look, plant)
        self._scratch = scratch_for(plant.model, self._changed())

    def prepare(self, plant: Plant) -> None:
        """See whether the next world is another."""
        self._fresh = plant.fresh

    def commit(self) -> None:
        """Let what stays look as it does."""
        scratch, self._scratch = self._scratch, None
        if not self._fresh:
            self._simulation.set_appearance(self._changed(), scratch)

    def finish(self) -> None:
        """Offer what is new, and undeclare what is gone."""
        kept = () if self._fresh else self._next
        self._parameters.withdraw([n for n in self._declared() if n not in kept])
        self._offer()

    def _offer(self) -> None:
        self._looks = self._next
        self._parameters.offered = self._specs

    def _declared(self) -> list[str]:
        return [name for name in self._looks if name in self._parameters.values]

    def _changed(self) -> dict[Appearance, tuple[float, ...]]:
        values = self._parameters.values
        return {self._looks[name]: values[name] for name in self._declared()}


def _spec(name: str, look: Appearance, plant: Plant) -> ParameterSpec:
    value, model = get_appearance(plant.model, look), plant.model
    if look.property == "rgba":
        return ParameterSpec(
            name=name, default=value, description=_RGBA.description, low=_RGBA.low, high=_RGBA.high
        )
    parts = SIZES[int(model.geom_type[element(model, look)])]
    return ParameterSpec(
        name=name,
        default=value,
        description=f"Size: {', '.join(parts)} [m]",
        low=_SIZE.low,
        high=_SIZE.high,
    )
