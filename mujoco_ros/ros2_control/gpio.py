"""gpio_controllers/GpioCommandController."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joints import check_numbers
from mujoco_ros.control.settings import setting
from mujoco_ros.model.errors import counted, unknown
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces, StateInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters


@dataclass(frozen=True, kw_only=True, slots=True)
class _Gpios:
    gpios: tuple[str, ...] = setting("Names of the GPIOs")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Interfaces:
    interfaces: tuple[str, ...] = setting("Interfaces of a GPIO", ())


class GpioCommandController(Controller):
    """Passes commands on to GPIOs, and publishes their states."""

    saved = ("_commands.values",)

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        gpios = parameters.read(_Gpios).gpios
        commands = parameters.read_each(_Interfaces, gpios, "command_interfaces.")
        states = parameters.read_each(_Interfaces, gpios, "state_interfaces.")
        self.command_interfaces = _names(commands)
        self.state_interfaces = _names(states) or tuple(
            name for name in hardware.state_interfaces if name.rpartition("/")[0] in gpios
        )
        self.groups = gpios
        self._commands = CommandInterfaces(hardware, self.command_interfaces)
        self.states = StateInterfaces(hardware, self.state_interfaces)

    def check(self, values: Mapping[str, float]) -> np.ndarray:
        """Return the checked values of named interfaces; NaN where there is none.  # (k,)

        Raises:
            CommandError: An interface is none of the controller's, or a value is infinite.
        """
        names = self.command_interfaces
        for name in values:
            if name not in names:
                raise CommandError(str(unknown("command interface", name, names)))
        checked = np.array([values.get(name, np.nan) for name in names], dtype=float)
        check_numbers(checked, "command", names, nan=True, kind="interface")
        return checked

    def command(self, values: np.ndarray) -> None:
        """Write checked values at the next update, but for NaN."""
        given = ~np.isnan(values)
        self._commands.values[given] = values[given]

    def activate(self) -> None:
        """Forget the values of before."""
        self._commands.values[:] = np.nan

    def update(self, time: float, period: float) -> None:
        """Write the newest values, and read the states."""
        self._commands.write()
        self.states.read()


def _names(of_gpios: Mapping[str, _Interfaces]) -> tuple[str, ...]:
    return tuple(f"{gpio}/{kind}" for gpio, each in of_gpios.items() for kind in each.interfaces)


def interface_values(
    groups: Sequence[str], names: Sequence[Sequence[str]], values: Sequence[Sequence[float]]
) -> dict[str, float]:
    """Return the values of a message by interface, ``gpio/interface``.

    Raises:
        CommandError: The lengths of its parts differ.
    """
    if not len(groups) == len(names) == len(values):
        raise CommandError(f"{len(names)} interface_values for {len(groups)} interface_groups")
    found: dict[str, float] = {}
    for group, own, numbers in zip(groups, names, values, strict=True):
        if len(own) != len(numbers):
            raise CommandError(
                f"'{group}' has {counted(len(numbers), 'value')} for "
                f"{counted(len(own), 'interface')}"
            )
        found |= {f"{group}/{name}": number for name, number in zip(own, numbers, strict=True)}
    return found
