"""Settings of the hosted controllers, and the parameters that they come from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mujoco_ros.bridge.parameters.parameters import Parameters
from mujoco_ros.controllers.runtime.supervisor import TIME_LIMIT_S
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.wire.parameter_spec import ParameterSpec

NO_NAMES = ("",)
"""Default of lists of names; rclpy has no type for an empty list."""
CONTROLLER_PARAMETERS = (
    ParameterSpec(
        name="controller",
        default="",
        description="Controller that runs in the simulator, in step with the physics: name of a "
        "shipped one, or path of a YAML file; empty is none",
        read_only=True,
    ),
    ParameterSpec(
        name="controllers",
        default=NO_NAMES,
        description="Names of several controllers, instead of `controller`: of their nodes, in the "
        "order of their ticks. Without a parameter `<controller>.type`, the name is also the "
        "shipped controller's; a path of a YAML file is possible, too",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_robot",
        default="",
        description="Name of the controlled robot; empty selects the only robot with joints. Of a "
        "table of several robots: 'giver=left_arm, taker=right_arm', or empty for those it names",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_step_by_step",
        default=False,
        description="Whether the controller starts in step-by-step mode, even if its table does "
        "not set it",
        read_only=True,
    ),
    ParameterSpec(
        name="controller_seed",
        default=0,
        description="Seed of all random numbers of the controller",
        low=0,
        high=2**31 - 1,
        read_only=True,
    ),
    ParameterSpec(
        name="controller_time_limit",
        default=TIME_LIMIT_S,
        description="Wall time after which a call of a state of the controller is interrupted and "
        "the controller is stopped, as in an endless loop [s]; 0 for never, as for a debugger",
        low=0.0,
        high=3600.0,
        read_only=True,
    ),
)

_OF_ONE = {spec.name.removeprefix("controller_"): spec for spec in CONTROLLER_PARAMETERS}
OF_EACH_CONTROLLER = {
    "type": ParameterSpec(
        name="<controller>.type",
        default="",
        description="The controller: name of a shipped one, or path of a YAML file",
        read_only=True,
    ),
    "robot": replace(_OF_ONE["robot"], name="<controller>.robot"),
    "joints": ParameterSpec(
        name="<controller>.joints",
        default=NO_NAMES,
        description="Names of the joints that it commands; empty is all joints of its robot",
        read_only=True,
    ),
    "active": ParameterSpec(
        name="<controller>.active",
        default=True,
        description="Whether it is active at the start",
        read_only=True,
    ),
    **{
        name: replace(_OF_ONE[name], name=f"<controller>.{name}")
        for name in ("step_by_step", "seed", "time_limit")
    },
}
"""Parameters of each controller in `controllers`, by the last part of their name."""


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
        step_by_step: Whether it starts in step-by-step mode, even if its table does not set it.
        time_limit: Wall time after which a call of a state is interrupted [s]; 0 for never.
        joints: Names of the joints that it commands; empty for all of its robot.
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
