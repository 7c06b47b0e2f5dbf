"""Topics of streamed joint commands: joint_commands and the forward command controllers."""

from collections.abc import Callable

from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.publishing.template_publisher import nanoseconds
from mujoco_ros.bridge.publishing.topics import LATCHED, RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joint_command import JointCommand, forward_command, joint_command
from mujoco_ros.control.robot_control import FORWARDED, RobotControl


class StreamServer:
    """Checks streamed joint commands, and submits them to the physics thread."""

    def __init__(
        self,
        endpoints: Endpoints,
        namespace: str,
        control: RobotControl,
        submit: CommandSubmission,
        rejections: RejectionLog,
        *,
        controllers: bool,
    ) -> None:
        """Open the topics.

        Args:
            endpoints: Opens them.
            namespace: Namespace of the robot.
            control: The command arbitration of the robot.
            submit: Submits commands to the physics thread.
            rejections: Log and counters of rejected commands.
            controllers: Whether to offer the forward command controllers.
        """
        self._endpoints = endpoints
        self._control = control
        self._submit = submit
        self._rejections = rejections
        self._namespace = namespace
        topic = within(namespace, CommandSource.JOINT_COMMANDS)
        self._open: list[Publisher | Subscription] = [
            endpoints.subscription(
                JointState, topic, lambda m: self._handle_joint_command(topic, m), RELIABLE
            )
        ]
        if controllers:
            for source in FORWARDED:
                self._serve(source)

    def _serve(self, source: CommandSource) -> None:
        """Open the topics of a forward command controller, if any joint has its interface."""
        joints = self._control.joints
        chosen = joints.with_interface(FORWARDED[source])
        if not chosen:
            return
        topic = within(self._namespace, source, "commands")
        self._open.append(
            self._endpoints.subscription(
                Float64MultiArray,
                topic,
                lambda m: self._handle_forward_command(topic, source, m),
                RELIABLE,
            )
        )
        order = self._endpoints.publisher(
            JointState, within(self._namespace, source, "joints"), LATCHED
        )
        order.publish(JointState(name=[joints.names[i] for i in chosen]))
        self._open.append(order)

    def close(self, _reason: str) -> None:
        """Close the topics."""
        for endpoint in self._open:
            self._endpoints.close(endpoint)
        self._open.clear()

    def flush(self) -> None:
        """Do nothing: topics have no results to send."""

    def destroy(self) -> None:
        """Do nothing: `close` has closed everything."""

    def _handle_joint_command(self, topic: str, message: JointState) -> None:
        fields = (message.position, message.velocity, message.effort)
        control = self._control
        self._submit_checked(
            topic,
            CommandSource.JOINT_COMMANDS,
            lambda: joint_command(
                control.joints, control.stream.out_of_limits, message.name, fields
            ),
            nanoseconds(message.header.stamp),
        )

    def _handle_forward_command(
        self, topic: str, source: CommandSource, message: Float64MultiArray
    ) -> None:
        control = self._control
        self._submit_checked(
            topic,
            source,
            lambda: forward_command(
                control.joints, control.stream.out_of_limits, FORWARDED[source], message.data
            ),
        )

    def _submit_checked(
        self, topic: str, source: CommandSource, read: Callable[[], JointCommand], stamp: int = 0
    ) -> None:
        try:
            command = read()
        except CommandError as error:
            self._rejections.report(topic, "refused", str(error))
            self._submit(topic, _nothing, stamp=stamp)
            return
        self._rejections.report_clamped(topic, command.clamped)
        self._submit(topic, lambda time: self._control.command(source, command, time), stamp=stamp)


def _nothing(_time: float) -> None:
    """Count as the answer of a lockstep tick, and change nothing."""
