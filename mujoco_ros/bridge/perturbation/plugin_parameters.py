"""Attributes of engine plugins, as parameters."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.perturbation.element_names import element_parameter
from mujoco_ros.control.gains import LARGEST_GAIN
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.plugin_attributes import PluginAttribute
from mujoco_ros.wire.parameter_spec import ParameterSpec

PLUGIN = ParameterSpec(
    "plugin.<instance>.<attribute>",
    0.0,
    "Attribute of an engine plugin that is a number in the model file",
    low=-1e9,
    high=1e9,
)
_PID = "mujoco.pid"
_BOUNDS = {
    **{(_PID, it): (0.0, LARGEST_GAIN) for it in ("kp", "ki", "kd", "imax", "slewmax")},
    ("mujoco.sensor.touch_grid", "gamma"): (0.0, 1.0),
}
"""Ranges of attributes of MuJoCo's own plugins, by plugin and attribute."""


class PluginParameters(Component):
    """A view of the plugin attributes of the simulation: a parameter for each.

    A reset does not change them; a world that is loaded has its own.
    """

    def __init__(self, context: NodeContext) -> None:
        """Declare them, and configure the simulation by their values.

        Raises:
            UserInputError: The user gave a value that a parameter cannot have.
        """
        self._parameters, self._simulation = context.parameters, context.simulation
        self._attributes: dict[str, PluginAttribute] = {}
        self._next: dict[str, PluginAttribute] = {}
        self._added: dict[str, float] = {}
        self._fresh = False
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
        """Declare parameters for the attributes that the next model adds.

        Raises:
            UserInputError: Two would have the same name, or the user gave an invalid value.
        """
        self._fresh, self._added = plant.fresh, {}
        present = plant.plugin_attributes.values()
        self._next = {
            element_parameter(plant.layout, "plugin", it.instance, it.attribute): it
            for it in present
        }
        specs = [
            _spec(name, it, present[it])
            for name, it in self._next.items()
            if name not in self._attributes
        ]
        values = self._parameters.initial(specs)
        plant.plugin_attributes.check({self._next[name]: it for name, it in values.items()})
        for spec in specs:
            self._parameters.declare([spec], values)
            self._added[spec.name] = values[spec.name]

    def commit(self) -> None:
        """Set the attributes that the model adds to the values that the user gave."""
        self._set({self._next[name]: value for name, value in self._added.items()})

    def finish(self) -> None:
        """Undeclare the parameters of plugins that are gone; show those of another world."""
        gone = [name for name in self._attributes if name not in self._next]
        self._attributes, self._added = self._next, {}
        self._parameters.withdraw(gone)
        if self._fresh:
            present = self._simulation.plant.plugin_attributes.values()
            self._parameters.show(
                {name: present[it] for name, it in self._attributes.items() if it in present}
            )

    def rollback(self) -> None:
        """Undeclare the parameters that `prepare` declared."""
        self._parameters.withdraw(self._added)
        self._next, self._added = self._attributes, {}

    def _changes(self, values: Mapping[str, Any]) -> dict[PluginAttribute, float]:
        # A client may be quicker than `finish`; its command then comes after the change.
        known = {**self._attributes, **self._next}
        return {known[name]: value for name, value in values.items() if name in known}

    def _set(self, changes: Mapping[PluginAttribute, float]) -> None:
        self._simulation.plant.set_plugin_attributes(changes)


def _spec(name: str, attribute: PluginAttribute, value: float) -> ParameterSpec:
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
