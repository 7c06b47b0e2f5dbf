"""The settings of a controller's states, as parameters of its node."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from inspect import cleandoc
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.parameters.parameters import Command, ParameterListener, Parameters
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.strict import updated

STEP_BY_STEP = ParameterSpec(
    name="step_by_step",
    default=False,
    description="Whether transitions of that trigger wait for a request",
)
_ATTRIBUTE = re.compile(r"^ {4}(\w+): ((?:.*\n(?: {8}.*\n?)*))", re.MULTILINE)


class StateParameters(ParameterListener):
    """Declares a parameter for each setting of each state: ``DESCEND.speed``.

    A set is checked by the state's own configuration, all or nothing; what was accepted acts from
    the state's next start.
    """

    def __init__(self, parameters: Parameters, runner: SupervisedController) -> None:
        """Declare them, and give the controller, which does not run yet, what the user set.

        Raises:
            ModelError: The user gave a value that a state cannot take.
        """
        self._machine = runner.controller.machine
        self._fields: dict[str, tuple[str, str]] = {}  # parameter to state and field
        self._configs = {
            state: config
            for state in self._machine.members
            if (config := self._machine.config(state)) is not None
        }
        specs = [dataclasses.replace(STEP_BY_STEP, default=self._machine.step_by_step)]
        for state, config in self._configs.items():
            for field, spec in config_specs(state, config):
                self._fields[spec.name] = state, field
                specs.append(spec)
        values = parameters.initial(specs)
        begun = {
            spec.name: values[spec.name] for spec in specs if values[spec.name] != spec.default
        }
        self.check_parameters(begun)
        self.apply_parameters(begun)()
        parameters.declare(specs, values)
        parameters.listeners.append(self)

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject values that the configuration of a state rejects."""
        self._changed(values)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command:
        """Return the command that configures the states."""
        self._configs |= self._changed(values)
        settings = self._by_state(values)
        machine, stepping = self._machine, values.get(STEP_BY_STEP.name)

        def command() -> None:
            if stepping is not None:
                machine.step_by_step = stepping
            for state, changes in settings.items():
                machine.configure(state, changes)

        return command

    def _by_state(self, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        grouped: dict[str, dict[str, Any]] = {}
        for name in values.keys() & self._fields.keys():
            state, field = self._fields[name]
            value = values[name]
            grouped.setdefault(state, {})[field] = list(value) if type(value) is tuple else value
        return grouped

    def _changed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the configurations that values would make.

        Raises:
            ModelError: One is impossible.
        """
        return {
            state: updated(self._configs[state], changes, state)
            for state, changes in self._by_state(values).items()
        }


def config_specs(state: str, config: Any) -> Iterator[tuple[str, ParameterSpec]]:
    """Yield the fields of a state's configuration that a parameter can hold, with its spec.

    That is a bool, an integer, a float, a text, one of several texts, and a vector of floats. The
    description is what the docstring says under "Attributes"; bounds are a field's metadata
    ``range``.
    """
    prefix, said = state.replace("/", "."), _descriptions(type(config))
    hints = get_type_hints(type(config))
    for field in dataclasses.fields(config):
        value, hint = getattr(config, field.name), hints[field.name]
        default = _plain(value)
        if default is None:
            continue
        low, high = field.metadata.get("range", (None, None))
        yield (
            field.name,
            ParameterSpec(
                name=f"{prefix}.{field.name}",
                default=default,
                description=said.get(field.name, f"Setting of the state {state}"),
                low=low,
                high=high,
                choices=_choices(hint),
            ),
        )


def _plain(value: Any) -> Any:
    """Return a value as a parameter has it; None if none can."""
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple):
        vector = bool(value) and all(isinstance(number, float) for number in value)
        return tuple(float(number) for number in value) if vector else None
    return value if isinstance(value, bool | int | float | str) else None


def _choices(hint: Any) -> tuple[str, ...]:
    if get_origin(hint) is Literal:
        return tuple(str(choice) for choice in get_args(hint))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return tuple(str(member) for member in hint)
    return ()


def _descriptions(config: type[Any]) -> dict[str, str]:
    """Return what the docstrings of a class and those that it is made from say of attributes."""
    said: dict[str, str] = {}
    for cls in reversed(config.__mro__):
        _, _, attributes = cleandoc(cls.__doc__ or "").partition("Attributes:\n")
        said |= {
            name: " ".join(text.split()).removesuffix(".")
            for name, text in _ATTRIBUTE.findall(attributes + "\n")
        }
    return said
