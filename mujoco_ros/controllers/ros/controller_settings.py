"""Settings of the hosted controllers, from the parameters of the simulator's node."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.controllers.ros.parameter_specs import OF_EACH_CONTROLLER
from mujoco_ros.model.errors import UserInputError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SHARED = ("seed", "step_by_step", "time_limit")
"""Settings whose defaults are the parameters ``controller_…``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ControllerSettings:
    """One hosted controller.

    Attributes:
        name: Name of its node.
        type: Name of a shipped controller, or path of a YAML file.
        robot: Name of its robot; empty is the only one with joints.
        seed: Seed of all of its random numbers.
        step_by_step: Whether it starts in step-by-step mode, even if its table does not set it.
        time_limit: Wall time after which a call of a state is interrupted [s]; 0 for never.
        joints: Names of the joints that it commands; empty for all of its robot.
        active: Whether it is active at the start.
        row: Name of its row on /diagnostics.
    """

    name: str
    type: str
    robot: str
    seed: int
    step_by_step: bool
    time_limit: float
    joints: tuple[str, ...] = ()
    active: bool = True
    row: str = "controller"


def controller_settings(parameters: Parameters) -> list[ControllerSettings]:
    """Declare the parameters of the controllers, and return their settings in order.

    Raises:
        UserInputError: A value is invalid, or `controller` and `controllers` are both given.
    """
    values = parameters.values
    shared = {name: values[f"controller_{name}"] for name in _SHARED}
    listed = _texts("controllers", values["controllers"])
    single = values["controller"]
    if single and listed:
        raise UserInputError(
            "the parameters 'controller' and 'controllers' exclude each other; add "
            f"'{single}' to 'controllers'"
        )
    if single:
        name, robot = controller_name(single), values["controller_robot"]
        return [ControllerSettings(name=name, type=single, robot=robot, **shared)]
    if listed and values["controller_robot"]:
        raise UserInputError(
            "the parameter 'controller_robot' is for a single 'controller'; of each in "
            "'controllers' it is '<name>.robot'"
        )
    names = [controller_name(it) for it in listed]
    for name in names:
        if names.count(name) > 1:
            raise UserInputError(
                f"parameter 'controllers' has two controllers named '{name}'; give each a name of "
                f"its own, and the controller as parameter '<name>.type'"
            )
    return [
        _declared(parameters, name, {"type": it, **shared})
        for name, it in zip(names, listed, strict=True)
    ]


def controller_name(name_or_path: str) -> str:
    """Return the node name of a controller.

    Raises:
        UserInputError: It is not a valid node name.
    """
    name = Path(name_or_path).stem
    if not _NAME.fullmatch(name):
        raise UserInputError(
            f"controller '{name_or_path}': '{name}' is not a valid node name; use a letter, then "
            "letters, digits or underscores"
        )
    return name


def _declared(parameters: Parameters, name: str, defaults: Mapping[str, Any]) -> ControllerSettings:
    """Declare the parameters of one of several controllers, and return its settings."""
    specs = {
        key: replace(spec, name=f"{name}.{key}", default=defaults.get(key, spec.default))
        for key, spec in OF_EACH_CONTROLLER.items()
    }
    values = parameters.declare(specs.values())
    given = {key: values[spec.name] for key, spec in specs.items()}
    given["joints"] = _texts(specs["joints"].name, given["joints"])
    return ControllerSettings(name=name, row=f"controller {name}", **given)


def _texts(name: str, values: Sequence[Any]) -> tuple[str, ...]:
    """Return the texts of a parameter that are not empty."""
    for value in values:
        if not isinstance(value, str):
            raise UserInputError(f"parameter '{name}' has {value!r}: it is a list of texts")
    return tuple(value for value in values if value)
