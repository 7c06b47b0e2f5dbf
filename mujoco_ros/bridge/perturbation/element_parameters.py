"""Parameters of elements of the model: equality constraints, numbers of the model, plugins."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component, ModelParameters, NodeContext, query
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.control.events import SimulationReset
from mujoco_ros.control.gains import LARGEST_GAIN
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.element_properties import (
    SIZES,
    Property,
    PropertyEdit,
    Row,
    Value,
    check_properties,
    element,
    get_property,
)
from mujoco_ros.sim.settings.model_settings import Equality, EqualitySettings
from mujoco_ros.sim.settings.plugin_attributes import PluginAttribute
from mujoco_ros.sim.settings.property_names import PropertyNames, element_parameter
from mujoco_ros.wire.parameter_spec import ParameterSpec

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


class _Offer(Mapping[str, ParameterSpec]):
    """The parameters of a model's properties; each is made when it is asked for."""

    def __init__(self, plant: Plant) -> None:
        self.model = plant.model
        self.names = PropertyNames(plant.model, plant.layout, plant.drives)

    def __getitem__(self, name: str) -> ParameterSpec:
        which, model = self.names[name], self.model
        value, row = get_property(model, which), which.row
        description = row.meaning
        if which.attribute == "size":
            parts = SIZES[int(model.geom_type[element(model, which)])]
            description = f"Size: {', '.join(parts)} [m]"
        return property_parameter(name, value, row, description)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def property_parameter(name: str, value: Value, row: Row, description: str) -> ParameterSpec:
    """Return the parameter of a property: a list of numbers, or one number."""
    low, high = min(row.low, *value), max(row.high, *value)
    default = value if len(value) > 1 or name.endswith(".size") else value[0]
    return ParameterSpec(name, default, description, low=low, high=high)


_RESTORES = "reset_restores_numbers"


class PropertyParameters(Component):
    """Offers a parameter for each property of an element.

    It is declared when it is first set, since a model has thousands. A world that is loaded has its
    own numbers.
    """

    parameters = (
        ParameterSpec(
            _RESTORES,
            False,
            "Whether a reset, and loading a keyframe, sets the numbers of the model back that "
            "parameters have changed, such as body.<name>.mass",
        ),
    )

    def __init__(self, context: NodeContext) -> None:
        self._node, self._parameters = context.node, context.parameters
        self._simulation = context.simulation
        self._sets = 0  # number of sets of parameters
        self._offered = self._next = _Offer(context.simulation.plant)
        self._edit: PropertyEdit | None = None  # of the next model
        self._parameters.offer(self._offered)
        context.simulation.properties.is_restored = context.values[_RESTORES]

    def apply_initial(self) -> None:
        """Apply the values that the user set at start, before the simulation runs."""
        changed = self._checked(self._parameters.values)
        self._simulation.properties.configure(changed)

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject what no body can have."""
        self._checked(values)

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that writes the numbers."""
        simulation, mine = self._simulation, self._of(values)
        if not mine and _RESTORES not in values:
            return None
        self._sets += 1
        edit = PropertyEdit(simulation.model, mine)

        def command() -> None:
            simulation.properties.is_restored = values.get(
                _RESTORES, simulation.properties.is_restored
            )
            simulation.properties.set(mine, edit)

        return command

    def on_reset(self, event: SimulationReset) -> None:
        """Show the numbers that a reset has restored or drawn."""
        simulation, count, shown = self._simulation, self._sets, self._offered

        def read() -> dict[Property, Value]:
            return dict(simulation.properties.present)

        def show(present: dict[Property, Value]) -> None:
            if count != self._sets or shown is not self._offered:
                return  # a client was quicker
            values = {n: present[w] for n, w in self._declared().items() if w in present}
            scalar = {n: v for n, v in values.items() if len(v) == 1 and not n.endswith(".size")}
            self._parameters.show(values | {name: value[0] for name, value in scalar.items()})

        if event.state and self._declared():
            query(self._node, simulation.commands, read, show)

    def build(self, plant: Plant) -> None:
        """Find the parameters of the next model."""
        self._next = _Offer(plant)
        self._edit = PropertyEdit(plant.model, self._of(self._parameters.values))

    def commit(self) -> None:
        """Apply the changed values to the elements that remain."""
        edit, self._edit = self._edit, None
        if edit is not None and not self._simulation.plant.fresh:
            self._simulation.properties.configure(edit.values, edit)

    def finish(self) -> None:
        """Offer the parameters of new elements; undeclare the parameters of deleted ones."""
        kept = () if self._simulation.plant.fresh else self._next.names
        self._parameters.withdraw([name for name in self._declared() if name not in kept])
        self._offered = self._next
        self._parameters.offer(self._offered)

    def _declared(self) -> dict[str, Property]:
        names = self._offered.names
        return {name: names[name] for name in self._parameters.values if name in names}

    def _checked(self, values: Mapping[str, Any]) -> dict[Property, Value]:
        names, mine = self._offered.names, self._of(values)
        for name in values:
            if name in names:
                names.check_name(name)
        check_properties(self._simulation.model, mine, names.labels)
        return mine

    def _of(self, values: Mapping[str, Any]) -> dict[Property, Value]:
        known = self._offered.names
        return {
            known[name]: value if isinstance(value, tuple) else (value,)
            for name, value in values.items()
            if name in known
        }


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
