"""Physics options of the engine, as parameters."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import mujoco

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.physics_options import (
    CHOICES,
    FLAG,
    GROUPS,
    UNITS,
    PhysicsConfig,
    bounds,
    read_options,
)
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.settings.model_settings import try_options
from mujoco_ros.wire.parameter_spec import ParameterSpec

_PREFIX = "physics."
_OF_FLAG = f"{FLAG}."
_STRUCT = re.compile(r"struct mjOption_ {.*?^}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^  (?:// (.+)|\w+ (\w+)\S*; +// (.+?)(?: \(mjt\w+\))?)$", re.MULTILINE)
_BIT = re.compile(r"^  mj(?:DSBL|ENBL)_(\w+) .*// (.+)$", re.MULTILINE)


def _descriptions() -> dict[str, str]:
    """Return what the engine's own headers say of each option and flag."""
    headers = Path(mujoco.HEADERS_DIR)
    struct = _STRUCT.search((headers / "mjmodel.h").read_text())
    fields, group = {}, ""
    for heading, name, text in _FIELD.findall(struct.group() if struct else ""):
        group = heading or group
        fields[name] = text if " " in text else f"{group}: {text}"
    bits = _BIT.findall((headers / "mjtype.h").read_text())
    flags = {f"{_OF_FLAG}{name.lower()}": f"Engine's flag: {text}" for name, text in bits}
    groups = "Numbers of the groups of actuators that are disabled, with spaces between them"
    return {**fields, **flags, GROUPS: groups}


def physics_parameters(options: PhysicsConfig) -> list[ParameterSpec]:
    """Return the parameter of each option, by its name in scenes, with its value as the default."""
    found = []
    described = _descriptions()
    for name, value in options.values().items():
        text = described.get(name, name)
        unit = f" [{UNITS[name]}]" if name in UNITS else ""
        has_bounds = isinstance(value, (int, float, tuple)) and not isinstance(value, bool)
        low, high = bounds(name) if has_bounds else (None, None)
        found.append(
            ParameterSpec(
                _PREFIX + name,
                value,
                f"{text[0].upper()}{text[1:]}{unit}",
                low=low,
                high=high,
                choices=tuple(CHOICES.get(name, ())),
            )
        )
    return found


class PhysicsParameters(Component):
    """A view of the physics options of the simulation.

    A reset does not change them; a world that is loaded has its own.
    """

    def __init__(self, context: NodeContext) -> None:
        self._parameters = context.parameters
        self._simulation = simulation = context.simulation
        of_model = simulation.options
        values = self._parameters.declare(physics_parameters(of_model))
        self._requested = PhysicsConfig.of(_named(values))
        if self._requested != of_model:
            try_options(simulation.model, self._requested)
            simulation.set_options(self._requested)

    def apply_parameters(self, values: Mapping[str, Any]) -> Callable[[], None] | None:
        """Return the command that writes accepted options."""
        named = _named(values)
        if not named:
            return None
        self._requested = self._changed(named)
        # Only these: meanwhile there may be another world with its own options.
        return partial(self._simulation.set_options, PhysicsConfig.of(named))

    def prepare(self, plant: Plant) -> None:
        """Check the options of the next model: its own for another world, else the current ones."""
        options = read_options(plant.model.opt)
        if not plant.fresh and options != self._requested:
            try_options(plant.model, self._requested)

    def finish(self) -> None:
        """Show the options of a world that was loaded."""
        if self._simulation.plant.fresh:
            self._requested = self._simulation.options
            values = self._requested.values()
            self._parameters.show({_PREFIX + name: value for name, value in values.items()})

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject options with which the engine does not run the model."""
        named = _named(values)
        options = self._changed(named)
        before = self._requested.values()
        tried = {
            name: value
            for name, value in named.items()
            if (name in CHOICES or name.startswith(_OF_FLAG)) and value != before[name]
        }
        if not tried:
            return
        try:
            try_options(self._simulation.model, options)
        except UserInputError as error:
            words = ", ".join(f"{_PREFIX}{name} = {value}" for name, value in tried.items())
            raise UserInputError(f"{words}: {error}") from error

    def _changed(self, named: Mapping[str, Any]) -> PhysicsConfig:
        return PhysicsConfig.of({**self._requested.values(), **named})


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(_PREFIX): value
        for name, value in values.items()
        if name.startswith(_PREFIX)
    }
