"""A robot control with a manager of ros2_control's controllers, without a simulator."""

from collections.abc import Sequence
from typing import Any

from commanded_robot import CommandedRobot, some_joints

from mujoco_ros.control.references import References
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces
from mujoco_ros.ros2_control.manager import ControllerManager
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.types import TYPES

JOINTS = some_joints(("a", "b", "c"))
FORWARD = "forward_command_controller/ForwardCommandController"


class Doubling(Controller):
    """Writes twice its reference to its joint; a chained controller."""

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        self.command_interfaces = ("a/velocity",)
        self.export_references(["a/velocity"])
        self._commands = CommandInterfaces(hardware, self.command_interfaces)
        self.updates: list[tuple[float, float]] = []

    def update(self, time: float, period: float) -> None:
        self.updates.append((time, period))
        self._commands.values[:] = 2.0 * self.references
        self._commands.write()


class Managed:
    """A robot with a manager."""

    def __init__(self, update_rate: float = 100.0) -> None:
        self.robot = CommandedRobot(JOINTS, q=(0.1, 0.2, 0.3))
        self.control = self.robot.control
        types = {**TYPES, "test/Doubling": Doubling}
        self.manager = ControllerManager(
            self.control, HardwareInterfaces(self.control), types, update_rate
        )
        self.control.managed = self.manager

    def add(self, name: str, kind: str = FORWARD, **parameters: Any) -> Any:
        self.manager.load(name, kind)
        return self.manager.configure(name, ControllerParameters(parameters, name))

    def forward(self, name: str, joints: Sequence[str], interface: str = "position") -> Any:
        return self.add(name, joints=list(joints), interface_name=interface)

    def start(self, *names: str, stop: Sequence[str] = (), strict: bool = True) -> tuple[str, ...]:
        return self.manager.switch(names, stop, strict=strict)

    @property
    def references(self) -> References:
        return self.control.references
