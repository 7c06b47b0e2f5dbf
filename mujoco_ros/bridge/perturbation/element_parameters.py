"""Parameters of elements of the model: equality constraints, appearance, plugins."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import mujoco

from mujoco_ros.bridge.component import Component, ModelParameters, NodeContext, query
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.control.gains import LARGEST_GAIN
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.model_settings import (
    SIZES,
    Appearance,
    Equality,
    EqualitySettings,
    appearances,
    element,
    get_appearance,
    scratch_for,
    set_appearance,
)
from mujoco_ros.sim.settings.plugin_attributes import PluginAttribute
from mujoco_ros.wire.parameter_spec import ParameterSpec


def element_parameter(layout: ModelLayout, kind: str, element: str, *rest: str) -> str:
    """Return the name of the parameter of an element, by its name in the model.

    Parameters of a robot begin with its namespace, parameters of an object with its name.
    """
    namespace, name = "", element
    for robot in layout.robots:
        if robot.prefix and element.startswith(robot.prefix):
            namespace, name = robot.namespace, element.removeprefix(robot.prefix)
    parts = (namespace, kind, name, *rest)
    return ".".join(name.replace("/", ".") for name in parts if name)


EQUALITY = ParameterSpec("equality.<name>", True, "Whether the equality constraint is active")


class EqualityParameters(ModelParameters[str]):
    """A view of the simulation's `EqualitySettings`: a parameter for each named constraint."""

    def __init__(self, context: NodeContext) -> None:
        super().__init__(context)
        self._node, self._set = context.node, 0  # number of sets of parameters
        self.prepare(context.simulation.plant)
        super().finish()
        for parameter, constraint in self._elements.items():
            context.simulation.plant.equalities.configure(constraint, context.values[parameter])

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that switches constraints."""
        wanted, simulation = self._changes(values), self._simulation
        if not wanted:
            return None
        self._set += 1

        def command() -> None:
            for constraint, active in wanted.items():
                simulation.plant.equalities.set(constraint, active)

        return command

    def on_reset(self, event: SimulationReset) -> None:
        """Show which constraints are active after a reset."""
        if event.state:
            self._show()

    def prepare(self, plant: Plant) -> None:
        """Find the constraints of the next model."""
        named = {
            element_parameter(plant.layout, "equality", constraint.name): constraint
            for constraint in plant.equalities.constraints
        }
        self._find(
            (ParameterSpec(name, each.initially_active, _described(each)), each.name)
            for name, each in named.items()
        )

    def finish(self) -> None:
        """Show which constraints of the next model are active."""
        super().finish()
        self._show()

    def _show(self) -> None:
        """Set the parameters to what is active, after something else changed it."""
        if not self._elements:
            return
        count, simulation = self._set, self._simulation

        def read() -> tuple[EqualitySettings, dict[str, bool]]:
            return simulation.plant.equalities, simulation.plant.equalities.active()

        def show(result: tuple[EqualitySettings, dict[str, bool]]) -> None:
            owner, active = result
            if count != self._set or owner is not simulation.plant.equalities:
                self._show()  # a client was quicker
                return
            shown = {name: active.get(element) for name, element in self._elements.items()}
            self._parameters.show({n: value for n, value in shown.items() if value is not None})

        query(self._node, simulation.commands, read, show)


def _described(constraint: Equality) -> str:
    return f"{EQUALITY.description} {constraint.kind}".rstrip()


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
        self._parameters, self._simulation = context.parameters, context.simulation
        self._elements: dict[str, Appearance] = {}
        self._next: dict[str, Appearance] = {}
        self._specs: dict[str, ParameterSpec] = {}
        self._scratch: mujoco.MjData | None = None  # of the next model
        self.build(context.simulation.plant)
        self._offer()

    def apply_initial(self) -> None:
        """Apply the values that the user set at start, before the simulation runs."""
        set_appearance(self._simulation.model, self._changed_values())

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that writes colours and sizes."""
        mine = {self._elements[name]: v for name, v in values.items() if name in self._elements}
        if not mine:
            return None
        simulation, scratch = self._simulation, scratch_for(self._simulation.model, mine)
        return lambda: set_appearance(simulation.model, mine, scratch)

    def build(self, plant: Plant) -> None:
        """Find the parameters of the next model."""
        self._next, self._specs = {}, {}
        for appearance in appearances(plant.model):
            name = element_parameter(
                plant.layout, appearance.kind, appearance.name, appearance.property
            )
            self._next[name] = appearance
            self._specs[name] = _appearance_spec(name, appearance, plant)
        self._scratch = scratch_for(plant.model, self._changed_values())

    def commit(self) -> None:
        """Apply the changed values to the elements that remain."""
        scratch, self._scratch = self._scratch, None
        if not self._simulation.plant.fresh:
            set_appearance(self._simulation.model, self._changed_values(), scratch)

    def finish(self) -> None:
        """Offer the parameters of new elements; undeclare the parameters of deleted ones."""
        kept = () if self._simulation.plant.fresh else self._next
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


def _appearance_spec(name: str, appearance: Appearance, plant: Plant) -> ParameterSpec:
    value, model = get_appearance(plant.model, appearance), plant.model
    if appearance.property == "rgba":
        return replace(_RGBA, name=name, default=value)
    parts = SIZES[int(model.geom_type[element(model, appearance)])]
    description = f"Size: {', '.join(parts)} [m]"
    return replace(_SIZE, name=name, default=value, description=description)


PLUGIN = ParameterSpec(
    "plugin.<instance>.<attribute>",
    0.0,
    "Attribute of an engine plugin that is a number in the model file",
    low=-1e9,
    high=1e9,
)
_PID = "mujoco.pid"
_BOUNDS = {
    **{(_PID, gain): (0.0, LARGEST_GAIN) for gain in ("kp", "ki", "kd", "imax", "slewmax")},
    ("mujoco.sensor.touch_grid", "gamma"): (0.0, 1.0),
}
"""Ranges of attributes of MuJoCo's own plugins, by plugin and attribute."""


class PluginParameters(ModelParameters[PluginAttribute]):
    """A view of the plugin attributes of the simulation: a parameter for each.

    A reset does not change them; a world that is loaded has its own.
    """

    def __init__(self, context: NodeContext) -> None:
        super().__init__(context)
        self.prepare(self._simulation.plant)
        self.commit()
        self.finish()

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject what the plugins reject."""
        if changes := self._changes(values):
            self._simulation.plant.plugin_attributes.check(changes)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that sets attributes."""
        changes = self._changes(values)
        return partial(self._set, changes) if changes else None

    def prepare(self, plant: Plant) -> None:
        """Find the attributes of the next model, and check the values of the added ones."""
        present = plant.plugin_attributes.values()
        named = {
            element_parameter(plant.layout, "plugin", each.instance, each.attribute): each
            for each in present
        }
        self._find(
            (_attribute_spec(name, each, present[each]), each) for name, each in named.items()
        )
        plant.plugin_attributes.check(self._of_added())

    def commit(self) -> None:
        """Set the attributes that the model adds to the values that the user gave."""
        self._set(self._of_added())

    def finish(self) -> None:
        """Show the attributes of another world."""
        super().finish()
        if self._simulation.plant.fresh:
            present = self._simulation.plant.plugin_attributes.values()
            shown = {name: present.get(element) for name, element in self._elements.items()}
            self._parameters.show({n: value for n, value in shown.items() if value is not None})

    def _of_added(self) -> dict[PluginAttribute, float]:
        return {self._next[name]: value for name, value in self._added.items()}

    def _set(self, changes: Mapping[PluginAttribute, float]) -> None:
        self._simulation.plant.set_plugin_attributes(changes)


def _attribute_spec(name: str, attribute: PluginAttribute, value: float) -> ParameterSpec:
    low, high = _BOUNDS.get((attribute.plugin, attribute.attribute), (PLUGIN.low, PLUGIN.high))
    assert low is not None
    assert high is not None
    return replace(
        PLUGIN,
        name=name,
        default=value,
        description=f"Attribute '{attribute.attribute}' of the engine plugin {attribute.plugin}",
        low=min(low, value),
        high=max(high, value),
    )
