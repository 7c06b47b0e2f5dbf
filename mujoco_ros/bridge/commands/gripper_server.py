"""The action gripper_cmd of a robot."""

from control_msgs.action import ParallelGripperCommand

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.events import CommandSource, GoalEnded, GoalProgress, Outcome
from mujoco_ros.control.gripper import GripperCommand, gripper_command
from mujoco_ros.control.robot_control import RobotControl


class GripperServer:
    """Checks goals of the gripper, and submits them to the physics thread."""

    def __init__(
        self,
        endpoints: Endpoints,
        namespace: str,
        control: RobotControl,
        submit: CommandSubmission,
        rejections: RejectionLog,
    ) -> None:
        """Serve the action; see `TrajectoryServer` for the arguments."""
        self._control = control
        self._submit = submit
        self._rejections = rejections
        self._command: GripperCommand | None = None
        self._action = within(namespace, CommandSource.GRIPPER, "gripper_cmd")
        self.goals = GoalServer(
            endpoints,
            ParallelGripperCommand,
            self._action,
            check=self._check,
            accept=self._accept,
            cancel=self._cancel,
            result=self._result,
            feedback=self._feedback,
        )

    def close(self, reason: str) -> None:
        """Abort all goals and accept no more."""
        self.goals.close(reason)

    def flush(self) -> None:
        """Wait until clients have received the results, before the process ends."""
        self.goals.flush()

    def destroy(self) -> None:
        """Close the action, after `close`."""
        self.goals.destroy()

    def _result(self, event: GoalEnded) -> ParallelGripperCommand.Result:
        reached = event.outcome is Outcome.SUCCESSFUL and not event.stalled
        result = ParallelGripperCommand.Result(stalled=event.stalled, reached_goal=reached)
        result.state.name = [self._joint]
        result.state.position, result.state.effort = [event.position], [event.effort]
        return result

    def _feedback(self, event: GoalProgress) -> ParallelGripperCommand.Feedback:
        feedback = ParallelGripperCommand.Feedback()
        position, velocity = event.actual[:, 0].tolist()
        feedback.state.header.stamp = stamp(event.time)
        feedback.state.name = [self._joint]
        feedback.state.position, feedback.state.velocity = [position], [velocity]
        feedback.state.effort = [event.effort]
        return feedback

    @property
    def _joint(self) -> str:
        joints = self._control.joints
        return "" if joints.gripper is None else joints.names[joints.gripper]

    def _check(self, goal: ParallelGripperCommand.Goal) -> bool:
        command, control = goal.command, self._control
        try:
            self._command = gripper_command(
                control.joints,
                control.stream.out_of_limits,
                list(command.name),
                list(command.position),
                list(command.velocity),
                list(command.effort),
            )
        except CommandError as error:
            self._rejections.report(self._action, "refused", f"goal rejected: {error}")
            return False
        self._rejections.report_clamped(self._action, self._command.clamped)
        return True

    def _accept(self, goal: Goal) -> None:
        command = self._command
        if command is not None:
            self._submit(
                self._action, lambda time: self._control.command_gripper(command, goal, time), goal
            )

    def _cancel(self, goal: Goal) -> None:
        gripper = self._control.gripper
        if gripper is not None:
            self._submit(self._action, lambda _time: gripper.cancel(goal))
