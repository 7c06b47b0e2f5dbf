"""The settings of a controller's states as parameters, and as a panel."""

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from enum import StrEnum
from functools import partial
from inspect import cleandoc, get_annotations
from typing import Any, Literal, get_args, get_origin, get_type_hints

from mujoco_ros.bridge.panel_server import PanelGroup, PanelServer
from mujoco_ros.bridge.parameters.parameters import Command, ParameterListener, Parameters
from mujoco_ros.controllers.fsm.machine import Machine
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.strict import updated
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.parameter_spec import ParameterSpec

STEP_BY_STEP = ParameterSpec(
    name="step_by_step",
    default=False,
    description="Whether transitions with the trigger step_by_step need a request",
)
_ATTRIBUTE = re.compile(r"^ {4}(\w+): ((?:.*\n(?: {8}.*\n?)*))", re.MULTILINE)


class StateParameters(ParameterListener):
    """Declares one parameter for each setting of each state, e.g. ``DESCEND.speed``.

    The state's configuration checks each set atomically; it applies from the state's next start.
    """

    def __init__(self, parameters: Parameters, machine: Machine) -> None:
        """Declare the parameters, and apply initial values before the controller runs."""
        self._machine = machine
        self._fields: dict[str, tuple[str, str]] = {}  # parameter to state and field
        self._configs = {
            state: config
            for state in machine.instances
            if (config := machine.configs[state]) is not None
        }
        specs = [dataclasses.replace(STEP_BY_STEP, default=machine.step_by_step)]
        for state, config in self._configs.items():
            for field, spec in config_specs(state, config):
                self._fields[spec.name] = state, field
                specs.append(spec)
        values = parameters.initial(specs)
        given = {
            spec.name: values[spec.name] for spec in specs if values[spec.name] != spec.default
        }
        self.check_parameters(given)
        self.apply_parameters(given)()
        parameters.declare(specs, values)
        parameters.listeners.append(self)

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Raise UserInputError for an invalid configuration."""
        self._changed(values)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command:
        """Store accepted values; return a command for the controller's thread."""
        self._configs |= self._changed(values)
        settings = self._by_state(values)
        machine, step_by_step = self._machine, values.get(STEP_BY_STEP.name)

        def command() -> None:
            if step_by_step is not None:
                machine.step_by_step = step_by_step
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
        """Return the new configurations; UserInputError if one is invalid."""
        return {
            state: updated(self._configs[state], changes, state)
            for state, changes in self._by_state(values).items()
        }


def config_specs(state: str, config: Any) -> Iterator[tuple[str, ParameterSpec]]:
    """Yield each field of a configuration that fits into a parameter, with its spec.

    Supported are bool, int, float, str, a choice of strings, and a vector of floats. A field with
    the metadata ``is_fixed`` is left out: only the table gives it. The description is
    the metadata ``description``, or what the docstring's "Attributes" say; bounds are the metadata
    ``range``.
    """
    prefix, descriptions = state.replace("/", "."), _descriptions(type(config))
    hints = get_type_hints(type(config))
    for field in dataclasses.fields(config):
        default = _plain(getattr(config, field.name))
        if default is None or field.metadata.get("is_fixed"):
            continue
        low, high = field.metadata.get("range", (None, None))
        yield (
            field.name,
            ParameterSpec(
                name=f"{prefix}.{field.name}",
                default=default,
                description=descriptions.get(field.name, f"Setting of the state {state}"),
                low=low,
                high=high,
                choices=_choices(hints[field.name]),
            ),
        )


def _plain(value: Any) -> Any:
    """Return a value as a parameter value; None if it has no parameter type."""
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple):
        is_vector = bool(value) and all(isinstance(number, float) for number in value)
        return value if is_vector else None
    return value if isinstance(value, bool | int | float | str) else None


def _choices(hint: Any) -> tuple[str, ...]:
    if get_origin(hint) is Literal:
        return tuple(str(choice) for choice in get_args(hint))
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return tuple(str(member) for member in hint)
    return ()


def _descriptions(config: type[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for cls in reversed(config.__mro__):
        _, _, attributes = cleandoc(cls.__doc__ or "").partition("Attributes:\n")
        found |= {
            name: " ".join(text.split()).removesuffix(".")
            for name, text in _ATTRIBUTE.findall(attributes + "\n")
        }
        found |= {
            field.name: field.metadata["description"]
            for field in vars(cls).get("__dataclass_fields__", {}).values()
            if field.name in get_annotations(cls) and "description" in field.metadata
        }
    return found


Submit = Callable[[Callable[[], Any]], "Future[Any]"]


def controller_panel(endpoints: Endpoints, machine: Machine, submit: Submit) -> PanelServer:
    """Serve the panel of a controller below ``~/panel``; UserInputError if a state lacks an item.

    `submit` calls a function in the controller's thread between two ticks.
    """

    def group(path: str, state: State) -> PanelGroup:
        config = machine.configs[path]
        return PanelGroup(
            name=path,
            items=state.panel,
            owner=state,
            path=[topic_token(part) for part in path.split("/")],
            settings={} if config is None else dict(config_specs(path, config)),
            press=lambda method: submit(partial(machine.press, path, method)),
            evaluate=lambda method: machine.calls.evaluate(path, getattr(state, method)),
            is_active=lambda: path in machine.active,
        )

    groups = [group(path, state) for path, state in machine.instances.items() if state.panel]
    return PanelServer(endpoints, "~", endpoints.node.get_name(), groups)
