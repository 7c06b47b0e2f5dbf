"""The topics by which streams of joint commands reach a robot."""

from collections.abc import Callable

from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.events import Source
from mujoco_ros.control.joint_command import JointCommand, forward_command, joint_command
from mujoco_ros.control.robot_control import FORWARDED, RobotControl
from mujoco_ros.ros.refusals import Refusals
from mujoco_ros.ros.submit import Submit
from mujoco_ros.ros.topics import LATCHED, RELIABLE


class StreamServer:
    """Checks joint commands as they come, and hands them to the physics thread."""

    def __init__(
        self,
        node: Node,
        namespace: str,
        control: RobotControl,
        submit: Submit,
        refusals: Refusals,
        *,
        controllers: bool,
    ) -> None:
        """Create ``joint_commands`` and, with `controllers`, those of forward controllers.

        Args:
            node: The node.
            namespace: The robot's namespace.
            control: What commands the robot.
            submit: Hands commands to the physics thread.
            refusals: Where to report what is wrong.
            controllers: Whether to offer the forward command controllers.
        """
        self._node = node
        self._control = control
        self._submit = submit
        self._refusals = refusals
        self._prefix = f"{namespace}/" if namespace else ""
        topic = f"{self._prefix}{Source.JOINT_COMMANDS}"
        self._subscriptions = [
            node.create_subscription(JointState, topic, lambda m: self._by_name(topic, m), RELIABLE)
        ]
        self._orders: list[Publisher] = []
        if controllers:
            for source in FORWARDED:
                self._serve(source)

    def _serve(self, source: Source) -> None:
        """Serve a forward command controller, if any joint takes what it commands."""
        joints = self._control.joints
        chosen = joints.taking(FORWARDED[source])
        if not chosen:
            return
        topic = f"{self._prefix}{source}/commands"
        self._subscriptions.append(
            self._node.create_subscription(
                Float64MultiArray, topic, lambda m: self._in_order(topic, source, m), RELIABLE
            )
        )
        order = self._node.create_publisher(JointState, f"{self._prefix}{source}/joints", LATCHED)
        order.publish(JointState(name=[joints.names[i] for i in chosen]))
        self._orders.append(order)

    def _by_name(self, topic: str, message: JointState) -> None:
        fields = (message.position, message.velocity, message.effort)
        control = self._control
        self._take(
            topic,
            Source.JOINT_COMMANDS,
            lambda: joint_command(
                control.joints, control.stream.out_of_limits, message.name, fields
            ),
        )

    def _in_order(self, topic: str, source: Source, message: Float64MultiArray) -> None:
        control = self._control
        self._take(
            topic,
            source,
            lambda: forward_command(
                control.joints, control.stream.out_of_limits, FORWARDED[source], message.data
            ),
        )

    def _take(self, topic: str, source: Source, read: Callable[[], JointCommand]) -> None:
        try:
            command = read()
        except CommandError as error:
            self._refusals.report(topic, "refused", str(error))
            return
        self._refusals.tell_clamped(topic, command.clamped)
        if len(command.joints):
            self._submit(topic, lambda time: self._control.command(source, command, time))
