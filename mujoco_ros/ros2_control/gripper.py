"""The controllers of grippers: one joint, which may stall on an object."""

from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.control.events import ActionGoal
from mujoco_ros.control.gripper import GripperCommand, GripperController
from mujoco_ros.control.joints import EFFORT, POSITION, ControlledJoints, GripperServo, JointServo
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import GripperSettings, setting
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.pid import PidGains, PidLaws


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parameters:
    joint: str = setting("Joint of the gripper")
    max_effort_interface: str = setting("Interface that limits the effort; empty for no limit", "")
    max_velocity_interface: str = setting("Interface that limits the speed; empty for no limit", "")


class ParallelGripperController(Controller):
    """parallel_gripper_action_controller/GripperActionController."""

    every_step = True
    interface: ClassVar[str] = POSITION  # that it commands
    without_meaning = ("state_interfaces", "action_monitor_rate")

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = parameters.read(_Parameters)
        settings = parameters.read(GripperSettings, defaults={"goal_tolerance": 0.01})
        if self.interface == POSITION and not read.max_effort_interface:
            settings = replace(settings, max_effort=0.0)
        if not read.max_velocity_interface:
            settings = replace(settings, max_velocity=0.0)
        robot = hardware.robot
        joint = int(hardware.find_joints([read.joint])[0])
        self.joints: ControlledJoints = replace(robot.joints, gripper=joint, tendon=None)
        self.command_interfaces = (f"{read.joint}/{self.interface}",)
        self.state_interfaces = tuple(f"{read.joint}/{kind}" for kind in (POSITION, "velocity"))
        CommandInterfaces(hardware, self.command_interfaces)  # which must exist
        servo = self._servo(parameters, hardware, joint)
        self.gripper = GripperController(servo, settings, hardware.emit)

    def _servo(
        self, _parameters: ControllerParameters, hardware: HardwareInterfaces, joint: int
    ) -> GripperServo:
        """Return what follows the positions of the gripper."""
        return JointServo(hardware.robot, joint)

    @property
    def busy(self) -> bool:
        return self.gripper.busy

    def command(self, command: GripperCommand, time: float) -> None:
        """Execute a checked command from the step at `time` [s] on."""
        self.gripper.accept(command, time)

    def cancel(self, goal: ActionGoal) -> None:
        """Hold the reference, if a goal is active."""
        self.gripper.cancel(goal)

    def activate(self) -> None:
        """Take commands from now on."""
        self.is_active = True

    def deactivate(self) -> None:
        """End the goal, and restore the effort limit."""
        self.is_active = False
        self.gripper.reset("the controller was deactivated")

    def reset(self, reason: str) -> None:
        """End the goal, and restore the effort limit."""
        self.gripper.reset(reason)

    def update(self, time: float, period: float) -> None:
        """Move the reference, and monitor the goal."""
        if self.gripper.busy:
            self.gripper.update(time, self.hardware.robot.timestep)

    def save_state(self) -> dict[str, Any]:
        return self.gripper.save_state()

    def restore_state(self, state: dict[str, Any]) -> None:
        self.gripper.restore_state(state)


class PositionGripperController(ParallelGripperController):
    """position_controllers/GripperActionController, with the former action."""


class EffortGripperController(ParallelGripperController):
    """effort_controllers/GripperActionController: a PID law leads the joint to positions."""

    every_step = False
    interface = EFFORT

    def _servo(
        self, parameters: ControllerParameters, hardware: HardwareInterfaces, joint: int
    ) -> GripperServo:
        self._law = _LawServo(
            hardware.robot,
            joint,
            parameters.read(PidGains, f"gains.{hardware.robot.joints.names[joint]}."),
            CommandInterfaces(hardware, self.command_interfaces),
        )
        return self._law

    def activate(self) -> None:
        """Hold the measured position."""
        super().activate()
        self._law.begin()

    def reset(self, reason: str) -> None:
        """End the goal, and hold the position of the new state."""
        super().reset(reason)
        self._law.begin()

    def update(self, time: float, period: float) -> None:
        """Move the reference, monitor the goal, and write the effort."""
        if self.gripper.busy:
            self.gripper.update(time, period)
        self._law.update(period)

    def save_state(self) -> dict[str, Any]:
        return {"gripper": super().save_state(), "law": self._law.save_state()}

    def restore_state(self, state: dict[str, Any]) -> None:
        super().restore_state(state["gripper"])
        self._law.restore_state(state["law"])


class _LawServo(JointServo):
    """A PID law that leads a joint to positions by its effort."""

    def __init__(
        self, robot: RobotControl, joint: int, gains: PidGains, commands: CommandInterfaces
    ) -> None:
        super().__init__(robot, joint)
        self._law = PidLaws([gains])
        self._commands, self._target, self._most = commands, nan, inf

    def begin(self) -> None:
        """Hold the position of the first `update`."""
        self._target = nan
        self._law.reset()

    def reference(self) -> float:
        """Return the position to which the law leads [m or rad]."""
        return self.measured()[0] if isnan(self._target) else self._target

    def set_reference(self, position: float) -> None:
        """Lead the joint to a position [m or rad]."""
        self._target = position

    def limit_effort(self, effort: float) -> None:
        """Limit the output of the law [N or Nm]; 0 for no limit."""
        self._most = effort or inf

    def update(self, period: float) -> None:
        """Write the effort."""
        position, speed, _ = self.measured()
        self._target = self.reference()
        error, rate = np.array([self._target - position]), np.array([-speed])
        effort = self._law.output(error, rate, period)
        self._commands.values[:] = np.clip(effort, -self._most, self._most)
        self._commands.write()

    def save_state(self) -> tuple[float, float, np.ndarray]:
        return self._target, self._most, self._law.integral.copy()

    def restore_state(self, state: tuple[float, float, np.ndarray]) -> None:
        self._target, self._most, self._law.integral[:] = state
