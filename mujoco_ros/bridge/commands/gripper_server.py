"""The actions of grippers."""

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

from control_msgs.action import GripperCommand as FormerGripperCommand
from control_msgs.action import ParallelGripperCommand

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import (
    ActionGoal,
    CommandError,
    CommandSource,
    GoalEnded,
    GoalProgress,
    Outcome,
)
from mujoco_ros.control.gripper import GripperCommand, gripper_command
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.wire.conversions import stamp


class GrippingController(Protocol):
    """A gripper controller."""

    name: str  # its name in the namespace of the robot
    joints: ControlledJoints  # of which one, or a tendon, is the gripper

    def refusal(self) -> str:
        """Return why it takes no commands; empty if it does."""

    def command(self, command: GripperCommand, time: float) -> None:
        """Execute a checked command from the step at `time` [s] on."""

    def cancel(self, goal: ActionGoal) -> None:
        """Hold the reference, if a goal is active."""


class _DefaultController:
    """The controller of the robot's gripper, which needs no activation."""

    def __init__(self, control: RobotControl) -> None:
        self.name = str(CommandSource.GRIPPER)
        self.joints, self._control = control.joints, control

    def refusal(self) -> str:
        return ""

    def command(self, command: GripperCommand, time: float) -> None:
        self._control.command_gripper(command, time)

    def cancel(self, goal: ActionGoal) -> None:
        if self._control.gripper is not None:
            self._control.gripper.cancel(goal)


class _Requested(NamedTuple):
    """What a goal requests; each list has at most one element."""

    names: list[str]
    position: list[float]
    velocity: list[float]
    effort: list[float]


class GripperServer(CommandServer):
    """Serves the action of a gripper controller."""

    action: ClassVar[Any] = ParallelGripperCommand

    def __init__(
        self,
        context: NodeContext,
        namespace: str,
        control: RobotControl,
        controller: GrippingController | None = None,
    ) -> None:
        """Serve a controller, or the one of the robot's gripper."""
        super().__init__(context, namespace, control)
        self._controller = controller or _DefaultController(control)
        self._action = in_namespace(namespace, self._controller.name, "gripper_cmd")
        self.goals = GoalServer(self._endpoints, self.action, self._action, self)

    def result(self, event: GoalEnded) -> Any:
        """Return the final state of the gripper."""
        reached = event.outcome is Outcome.SUCCESSFUL and not event.stalled
        result = ParallelGripperCommand.Result(stalled=event.stalled, reached_goal=reached)
        result.state.name = [self._controller.joints.gripper_name]
        result.state.position, result.state.effort = [event.position], [event.effort]
        return result

    def feedback(self, event: GoalProgress) -> Any:
        """Return the state of the gripper."""
        feedback = ParallelGripperCommand.Feedback()
        position, velocity = event.actual[:, 0].tolist()
        feedback.state.header.stamp = stamp(event.time)
        feedback.state.name = [self._controller.joints.gripper_name]
        feedback.state.position, feedback.state.velocity = [position], [velocity]
        feedback.state.effort = [event.effort]
        return feedback

    def check(self, goal: Any) -> GripperCommand | None:
        """Return the checked command; report a rejected one."""
        with self._rejections.refusing(self._action, "goal rejected: "):
            if problem := self._controller.refusal():
                raise CommandError(problem)
            limits = self._control.stream.out_of_limits
            command = gripper_command(self._controller.joints, limits, *self._requested(goal))
            self._rejections.report_clamped(self._action, command.clamped)
            return command
        return None

    def accept(self, goal: Goal, command: GripperCommand) -> None:
        """Submit the command of a goal."""
        command = replace(command, goal=goal)
        self._submit(self._action, partial(self._controller.command, command), goal)

    def cancel(self, goal: Goal) -> None:
        """Submit the cancellation of a goal."""
        cancel = self._controller.cancel
        self._submit(self._action, lambda _time: cancel(goal), urgent=True)

    def _requested(self, goal: Any) -> _Requested:
        given = goal.command
        return _Requested(
            list(given.name), list(given.position), list(given.velocity), list(given.effort)
        )


class FormerGripperServer(GripperServer):
    """Serves the action control_msgs/GripperCommand."""

    action = FormerGripperCommand

    def result(self, event: GoalEnded) -> FormerGripperCommand.Result:
        """Return the final state of the gripper."""
        reached = event.outcome is Outcome.SUCCESSFUL and not event.stalled
        return FormerGripperCommand.Result(
            position=event.position,
            effort=event.effort,
            stalled=event.stalled,
            reached_goal=reached,
        )

    def feedback(self, event: GoalProgress) -> FormerGripperCommand.Feedback:
        """Return the state of the gripper."""
        position = float(event.actual[0, 0])
        return FormerGripperCommand.Feedback(position=position, effort=event.effort)

    def _requested(self, goal: FormerGripperCommand.Goal) -> _Requested:
        return _Requested([], [goal.command.position], [], [goal.command.max_effort])
