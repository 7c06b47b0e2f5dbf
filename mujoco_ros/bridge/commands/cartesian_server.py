"""The topics of a robot's Cartesian controller."""

from functools import partial
from typing import Any

from geometry_msgs.msg import Point, PoseStamped, TwistStamped, Vector3, WrenchStamped
from rclpy.parameter import Parameter
from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.cartesian import CartesianCommand, CommandKind, cartesian_command
from mujoco_ros.control.events import CommandError, CommandSource
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.wire.conversions import nanoseconds, xyz
from mujoco_ros.wire.names import parameter_prefix

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
        super().__init__(context, namespace, control)
        assert isinstance(control.cartesian, CartesianController)
        self._node, self._prefix = context.node, parameter_prefix(namespace)
        self._cartesian: CartesianController = control.cartesian
        for name, kind in TOPICS.items():
            is_target = name != "target_stiffness"
            handle = self._handle_target if is_target else self._handle_stiffness
            self._subscribe(kind, handle, CommandSource.CARTESIAN, name)

    def _handle_target(self, topic: str, message: PoseStamped | TwistStamped) -> None:
        stamp, cartesian = nanoseconds(message.header.stamp), self._cartesian
        try:
            command = self._read(message)
        except (CommandError, UserInputError) as error:
            self._refuse(topic, error, stamp=stamp)
            return
        if cartesian.chain is not None:
            cartesian.chain.prepare()  # not in the physics thread
        self._submit(topic, partial(self._control.command_cartesian, command), stamp=stamp)

    def _read(self, message: PoseStamped | TwistStamped | WrenchStamped) -> CartesianCommand:
        """Return the command of a message, if it is valid and the controller takes it."""
        cartesian, chain = self._cartesian, self._cartesian.chain
        if chain is None:
            raise CommandError(cartesian.no_frame())
        frame = cartesian.chains.resolve(message.header.frame_id, chain.base)
        kind: CommandKind
        linear: Point | Vector3
        angular: tuple[float, ...]
        match message:
            case PoseStamped():
                turn = message.pose.orientation
                kind, linear, angular = "pose", message.pose.position, (turn.w, *xyz(turn))
            case TwistStamped():
                kind, linear, angular = "twist", message.twist.linear, xyz(message.twist.angular)
            case _:
                kind, linear, angular = "wrench", message.wrench.force, xyz(message.wrench.torque)
        command = cartesian_command(kind, frame, xyz(linear), angular)
        if problem := cartesian.refusal(command):
            raise CommandError(problem)
        return command

    def _handle_stiffness(self, topic: str, message: Float64MultiArray) -> None:
        values = list(message.data)
        name = f"{self._prefix}{CommandSource.CARTESIAN}.stiffness"
        parameters = [
            Parameter(f"{name}.translation", value=values[:3]),
            Parameter(f"{name}.rotation", value=values[3:]),
        ]
        with self._rejections.refusing(topic):
            if len(values) != 6:
                raise CommandError(
                    f"{counted(len(values), 'value')}; give 3 [N/m] and then 3 [Nm/rad]"
                )
            result = self._node.set_parameters_atomically(parameters)
            if not result.successful:
                raise CommandError(result.reason)
