"""The topics of a robot's Cartesian controller."""

from collections.abc import Callable, Mapping
from typing import Any

from geometry_msgs.msg import PoseStamped, TwistStamped, Vector3, WrenchStamped
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray, Header

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.cartesian import (
    CartesianCommand,
    FixedFrame,
    pose_target,
    twist_target,
    wrench_target,
)
from mujoco_ros.control.events import CommandError, CommandSource
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.wire.conversions import nanoseconds

TOPICS: dict[str, Any] = {
    "target_pose": PoseStamped,
    "target_twist": TwistStamped,
    "target_wrench": WrenchStamped,
    "target_stiffness": Float64MultiArray,
}
"""Topics in, with their types."""


class CartesianServer(CommandServer):
    """Serves the topics of the Cartesian controller."""

    def __init__(self, context: NodeContext, namespace: str, control: RobotControl) -> None:
        """Open the topics; see `CommandServer`."""
        super().__init__(context, namespace, control)
        assert isinstance(control.cartesian, CartesianController)
        self._node, self._prefix = context.node, parameter_prefix(namespace)
        self._cartesian: CartesianController = control.cartesian
        handlers: Mapping[str, Callable[[str, Any], None]] = {
            "target_pose": self._handle_pose,
            "target_twist": self._handle_twist,
            "target_wrench": self._handle_wrench,
            "target_stiffness": self._handle_stiffness,
        }
        for name, handle in handlers.items():
            self._subscribe(TOPICS[name], handle, CommandSource.CARTESIAN, name)

    def _handle_pose(self, topic: str, message: PoseStamped) -> None:
        def read(frame: FixedFrame) -> CartesianCommand:
            position, turn = message.pose.position, message.pose.orientation
            quat_wxyz = (turn.w, turn.x, turn.y, turn.z)
            return pose_target(frame, (position.x, position.y, position.z), quat_wxyz)

        self._submit_checked(topic, message.header, read)

    def _handle_twist(self, topic: str, message: TwistStamped) -> None:
        def read(frame: FixedFrame) -> CartesianCommand:
            twist = message.twist
            return twist_target(frame, _vector(twist.linear), _vector(twist.angular))

        self._submit_checked(topic, message.header, read)

    def _handle_wrench(self, topic: str, message: WrenchStamped) -> None:
        def read(frame: FixedFrame) -> CartesianCommand:
            wrench = message.wrench
            return wrench_target(frame, _vector(wrench.force), _vector(wrench.torque))

        self._submit_checked(topic, message.header, read)

    def _handle_stiffness(self, topic: str, message: Float64MultiArray) -> None:
        values = list(message.data)
        if len(values) != 6:
            self._rejections.report(
                topic, "refused", f"{len(values)} values; give 3 [N/m] and then 3 [Nm/rad]"
            )
            return
        name = f"{self._prefix}{CommandSource.CARTESIAN}.stiffness"
        parameters = [
            Parameter(f"{name}.translation", value=values[:3]),
            Parameter(f"{name}.rotation", value=values[3:]),
        ]
        result = self._node.set_parameters_atomically(parameters)
        if not result.successful:
            self._rejections.report(topic, "refused", result.reason)

    def _submit_checked(
        self, topic: str, header: Header, read: Callable[[FixedFrame], CartesianCommand]
    ) -> None:
        stamp, control, cartesian = nanoseconds(header.stamp), self._control, self._cartesian
        try:
            command = self._read(header.frame_id, read)
        except (CommandError, UserInputError) as error:
            self._rejections.report(topic, "refused", str(error))
            self._submit(topic, _nothing, stamp=stamp)
            return
        if cartesian.chain is not None:
            cartesian.chain.prepare()  # not in the physics thread
        self._submit(topic, lambda time: control.command_cartesian(command, time), stamp=stamp)

    def _read(self, frame: str, read: Callable[[FixedFrame], CartesianCommand]) -> CartesianCommand:
        """Return the checked command of a message.

        Raises:
            CommandError: It is invalid, or the controller does not take it.
            UserInputError: Its frame does not exist.
        """
        cartesian, chain = self._cartesian, self._cartesian.chain
        if chain is None:
            raise CommandError(cartesian.no_frame())
        command = read(cartesian.chains.resolve(frame, chain.base))
        if problem := cartesian.refusal(command):
            raise CommandError(problem)
        return command


def parameter_prefix(namespace: str) -> str:
    """Return the prefix of the parameters of a robot."""
    return namespace.replace("/", ".") + "." if namespace else ""


def _vector(vector: Vector3) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _nothing(_time: float) -> None:
    """Answer a lockstep tick with a command that changes nothing."""
