"""Controllers that pass the values of a message to command interfaces."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joint_command import Values
from mujoco_ros.control.joints import EFFORT, POSITION, VELOCITY, check_numbers
from mujoco_ros.control.settings import setting
from mujoco_ros.model.errors import counted
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters


@dataclass(frozen=True, kw_only=True, slots=True)
class _Joints:
    joints: tuple[str, ...] = setting("Joints, in the order of the values")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Interface(_Joints):
    interface_name: str = setting("Command interface of the joints")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Interfaces:
    joint: str = setting("The joint")
    interface_names: tuple[str, ...] = setting("Its command interfaces, in the order of the values")


class ForwardCommandController(Controller):
    """forward_command_controller/ForwardCommandController: one interface of several joints."""

    saved = ("_commands.values", "_is_new")

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        self.command_interfaces = self._interfaces(parameters)
        if not self.command_interfaces:
            raise parameters.reject("joints", "is empty")
        self._commands = CommandInterfaces(hardware, self.command_interfaces)
        self._is_new = False

    def _interfaces(self, parameters: ControllerParameters) -> tuple[str, ...]:
        read = parameters.read(_Interface)
        return tuple(f"{joint}/{read.interface_name}" for joint in read.joints)

    def check(self, values: Values) -> np.ndarray:
        """Return the checked values of a message; in the executor's thread.  # (k,)

        Raises:
            CommandError: Their number is another one, or one is not a number.
        """
        names = self.command_interfaces
        if len(values) != len(names):
            raise CommandError(
                f"{counted(len(values), 'value')} for {counted(len(names), 'interface')}; "
                f"the order is: {', '.join(names)}"
            )
        checked = np.array(values, dtype=float)
        check_numbers(checked, "command", names, nan=False, kind="interface")
        return checked

    def command(self, values: np.ndarray) -> None:
        """Follow checked values from the next update on."""
        self._commands.values[:] = values
        self._is_new = True

    def activate(self) -> None:
        """Forget the values of before."""
        self._commands.values[:] = np.nan
        self._is_new = False

    def update(self, time: float, period: float) -> None:
        """Write the newest values, once."""
        if self._is_new:
            self._is_new = False
            self._commands.write()


class MultiInterfaceForwardCommandController(ForwardCommandController):
    """forward_command_controller/MultiInterfaceForwardCommandController."""

    def _interfaces(self, parameters: ControllerParameters) -> tuple[str, ...]:
        read = parameters.read(_Interfaces)
        return tuple(f"{read.joint}/{interface}" for interface in read.interface_names)


class JointGroupPositionController(ForwardCommandController):
    """position_controllers/JointGroupPositionController."""

    interface: ClassVar[str] = POSITION

    def _interfaces(self, parameters: ControllerParameters) -> tuple[str, ...]:
        return tuple(f"{joint}/{self.interface}" for joint in parameters.read(_Joints).joints)


class JointGroupVelocityController(JointGroupPositionController):
    """velocity_controllers/JointGroupVelocityController; its joints stop when it ends."""

    interface = VELOCITY


class JointGroupEffortController(JointGroupPositionController):
    """effort_controllers/JointGroupEffortController; efforts become 0 when it ends."""

    interface = EFFORT
