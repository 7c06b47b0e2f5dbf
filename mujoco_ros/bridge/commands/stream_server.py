"""The topics by which streams of joint commands reach a robot."""

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
    """Checks joint commands as they come, and hands them to the physics thread."""

    def __init__(
        self,
        endpoints: Endpoints,
        namespace: str,
        control: RobotControl,
        submit: CommandSubmission,
        refusals: RejectionLog,
        *,
        controllers: bool,
    ) -> None:
        """Create ``joint_commands`` and, with `controllers`, those of forward controllers.

        Args:
            endpoints: Opens the topics.
            namespace: The robot's namespace.
            control: What commands the robot.
            submit: Hands commands to the physics thread.
            refusals: Where to report what is wrong.
            controllers: Whether to offer the forward command controllers.
        """
        self._endpoints = endpoints
        self._control = control
        self._submit = submit
        self._refusals = refusals
        self._namespace = namespace
        topic = within(namespace, CommandSource.JOINT_COMMANDS)
        self._open: list[Publisher | Subscription] = [
            endpoints.subscription(JointState, topic, lambda m: self._by_name(topic, m), RELIABLE)
        ]
        if controllers:
            for source in FORWARDED:
                self._serve(source)

    def _serve(self, source: CommandSource) -> None:
        """Serve a forward command controller, if any joint takes what it commands."""
        joints = self._control.joints
        chosen = joints.taking(FORWARDED[source])
        if not chosen:
            return
        topic = within(self._namespace, source, "commands")
        self._open.append(
            self._endpoints.subscription(
                Float64MultiArray, topic, lambda m: self._in_order(topic, source, m), RELIABLE
            )
        )
        order = self._endpoints.publisher(
            JointState, within(self._namespace, source, "joints"), LATCHED
        )
        order.publish(JointState(name=[joints.names[i] for i in chosen]))
        self._open.append(order)

    def close(self, _reason: str) -> None:
        """Take no more commands."""
        for endpoint in self._open:
            self._endpoints.close(endpoint)
        self._open.clear()

    def flush(self) -> None:
        """Do nothing, as nobody waits for an answer."""

    def destroy(self) -> None:
        """Do nothing more than `close` did."""

    def _by_name(self, topic: str, message: JointState) -> None:
        fields = (message.position, message.velocity, message.effort)
        control = self._control
        self._take(
            topic,
            CommandSource.JOINT_COMMANDS,
            lambda: joint_command(
                control.joints, control.stream.out_of_limits, message.name, fields
            ),
            nanoseconds(message.header.stamp),
        )

    def _in_order(self, topic: str, source: CommandSource, message: Float64MultiArray) -> None:
        control = self._control
        self._take(
            topic,
            source,
            lambda: forward_command(
                control.joints, control.stream.out_of_limits, FORWARDED[source], message.data
            ),
        )

    def _take(
        self, topic: str, source: CommandSource, read: Callable[[], JointCommand], stamp: int = 0
    ) -> None:
        try:
            command = read()
        except CommandError as error:
            self._refusals.report(topic, "refused", str(error))
            self._submit(topic, _nothing, stamp=stamp)
            return
        self._refusals.tell_clamped(topic, command.clamped)
        self._submit(topic, lambda time: self._control.command(source, command, time), stamp=stamp)


def _nothing(_time: float) -> None:
    """Answer in lockstep, but change nothing."""
