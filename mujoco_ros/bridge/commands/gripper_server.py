"""The action gripper_cmd of a robot."""

from control_msgs.action import ParallelGripperCommand

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import CommandError, CommandSource, GoalEnded, GoalProgress, Outcome
from mujoco_ros.control.gripper import GripperCommand, gripper_command
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.wire.conversions import stamp


class GripperServer(CommandServer):
    """Serves the action of the gripper."""

    def __init__(self, context: NodeContext, namespace: str, control: RobotControl) -> None:
        """Open the action; see `CommandServer`."""
        super().__init__(context, namespace, control)
        self._action = in_namespace(namespace, CommandSource.GRIPPER, "gripper_cmd")
        self.goals = GoalServer(self._endpoints, ParallelGripperCommand, self._action, self)

    def result(self, event: GoalEnded) -> ParallelGripperCommand.Result:
        """Return the final state of the gripper."""
        reached = event.outcome is Outcome.SUCCESSFUL and not event.stalled
        result = ParallelGripperCommand.Result(stalled=event.stalled, reached_goal=reached)
        result.state.name = [self._control.joints.gripper_name]
        result.state.position, result.state.effort = [event.position], [event.effort]
        return result

    def feedback(self, event: GoalProgress) -> ParallelGripperCommand.Feedback:
        """Return the state of the gripper."""
        feedback = ParallelGripperCommand.Feedback()
        position, velocity = event.actual[:, 0].tolist()
        feedback.state.header.stamp = stamp(event.time)
        feedback.state.name = [self._control.joints.gripper_name]
        feedback.state.position, feedback.state.velocity = [position], [velocity]
        feedback.state.effort = [event.effort]
        return feedback

    def check(self, goal: ParallelGripperCommand.Goal) -> GripperCommand | None:
        """Return the checked command; report a rejected one."""
        message, control = goal.command, self._control
        try:
            command = gripper_command(
                control.joints,
                control.stream.out_of_limits,
                list(message.name),
                list(message.position),
                list(message.velocity),
                list(message.effort),
            )
        except CommandError as error:
            self._rejections.report(self._action, "refused", f"goal rejected: {error}")
            return None
        self._rejections.report_clamped(self._action, command.clamped)
        return command

    def accept(self, goal: Goal, command: GripperCommand) -> None:
        """Submit the command of a goal."""
        self._submit(
            self._action, lambda time: self._control.command_gripper(command, goal, time), goal
        )

    def cancel(self, goal: Goal) -> None:
        """Submit the cancellation of a goal."""
        gripper = self._control.gripper
        if gripper is not None:
            self._submit(self._action, lambda _time: gripper.cancel(goal), urgent=True)
