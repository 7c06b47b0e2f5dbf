"""Settings of the hosted controllers, and the parameters that they come from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.controllers.runtime.ticks import TIME_LIMIT_S
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.wire.parameter_spec import ParameterSpec

NO_NAMES = ("",)
"""Default of lists of names; rclpy has no type for an empty list."""
_read_only = partial(ParameterSpec, read_only=True)
CONTROLLER_PARAMETERS = (
    _read_only(
        "controller",
        "",
        "Controller that runs in the simulator, in step with the physics: name of a shipped one, "
        "or path of a YAML file; empty is none",
    ),
    _read_only(
        "controllers",
        NO_NAMES,
        "Names of several controllers, instead of `controller`: of their nodes, in the order of "
        "their ticks. Without a parameter `<controller>.type`, the name is also the shipped "
        "controller's; a path of a YAML file is possible, too",
        hint="; a ros2_control parameter file is for 'controllers_file'",
    ),
    _read_only(
        "controller_robot",
        "",
        "Name of the controlled robot; empty selects the only robot with joints. Of a table of "
        "several robots: 'giver=left_arm, taker=right_arm', or empty for those it names",
    ),
    _read_only(
        "controller_step_by_step",
        False,
        "Whether the controller starts in step-by-step mode, even if its table does not set it",
    ),
    _read_only(
        "controller_seed", 0, "Seed of all random numbers of the controller", low=0, high=2**31 - 1
    ),
    _read_only(
        "controller_time_limit",
        TIME_LIMIT_S,
        "Wall time after which a call of a state of the controller is interrupted and the "
        "controller is stopped, as in an endless loop [s]; 0 for never, as for a debugger",
        low=0.0,
        high=3600.0,
    ),
)
_OF_ONE = {spec.name.removeprefix("controller_"): spec for spec in CONTROLLER_PARAMETERS}
_SHARED = ("step_by_step", "seed", "time_limit")
"""Settings whose defaults are the parameters ``controller_…``."""
OF_EACH_CONTROLLER = {
    "type": _read_only(
        "<controller>.type", "", "The controller: name of a shipped one, or path of a YAML file"
    ),
    "robot": replace(_OF_ONE["robot"], name="<controller>.robot"),
    "joints": _read_only(
        "<controller>.joints",
        NO_NAMES,
        "Names of the joints that it commands; empty is all joints of its robot",
    ),
    "active": _read_only("<controller>.active", True, "Whether it is active at the start"),
    **{name: replace(_OF_ONE[name], name=f"<controller>.{name}") for name in _SHARED},
}
"""Parameters of each controller in `controllers`, by the last part of their name."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class ControllerSettings:
    """One hosted controller, with the parameters in `OF_EACH_CONTROLLER`."""

    name: str  # of its node
    type: str
    robot: str
    seed: int
    step_by_step: bool
    time_limit: float
    joints: tuple[str, ...] = ()
    active: bool = True
    row: str = "controller"  # on /diagnostics


def controller_settings(parameters: Parameters) -> list[ControllerSettings]:
    """Declare the parameters of the controllers, and return their settings in order."""
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
    names = [controller_name(controller) for controller in listed]
    for name in names:
        if names.count(name) > 1:
            raise UserInputError(
                f"parameter 'controllers' has two controllers named '{name}'; give each a name of "
                f"its own, and the controller as parameter '<name>.type'"
            )
    return [
        _declared(parameters, name, {"type": controller, **shared})
        for name, controller in zip(names, listed, strict=True)
    ]


def controller_name(name_or_path: str) -> str:
    """Return the node name of a controller."""
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
    for value in values:
        if not isinstance(value, str):
            raise UserInputError(f"parameter '{name}' has {value!r}: it is a list of texts")
    return tuple(value for value in values if value)
