"""The topics of drives: a velocity in, odometry and a transform out."""

from math import cos, inf, sin
from typing import Any

from geometry_msgs.msg import TransformStamped, Twist, TwistStamped
from nav_msgs.msg import Odometry
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.ros2_control.controller_server import ControllerServer
from mujoco_ros.control.events import CommandError
from mujoco_ros.ros2_control.drive import kinematics
from mujoco_ros.ros2_control.drive.drive_controller import DriveController
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.qos import TF

_POSITION, _TURN = ("x", "y"), ("z", "w")
_TWIST = ("twist.twist.linear.x", "twist.twist.linear.y", "twist.twist.angular.z")


class DriveServer(ControllerServer[DriveController]):
    """Serves the velocity, the odometry and the transform of a drive."""

    def open(self) -> None:
        controller = self.controller
        settings, topics = controller.settings, controller.topics
        kind: Any = TwistStamped if settings.use_stamped_vel else Twist
        self._listen(kind, topics.command, self._handle)
        message = Odometry()
        message.header.frame_id, message.child_frame_id = self._frames()
        for covariance, diagonal in (
            (message.pose.covariance, settings.pose_covariance_diagonal),
            (message.twist.covariance, settings.twist_covariance_diagonal),
        ):
            covariance[::7] = diagonal
        self._outputs = [
            self._output(
                message,
                topics.odometry,
                [f"pose.pose.position.{axis}" for axis in _POSITION]
                + [f"pose.pose.orientation.{axis}" for axis in _TURN]
                + list(_TWIST),
            )
        ]
        if settings.enable_odom_tf:
            self._outputs.append(self._transform(topics.transform))
        self._limited = None
        if controller.publishes_limited:
            paths = ("twist.linear.x", "twist.linear.y", "twist.angular.z")
            self._limited = self._output(TwistStamped(), topics.limited, paths)

    def publish(self, time: float) -> None:
        """Publish the odometry of the state that an update has read."""
        odometry = self.controller.odometry
        half = 0.5 * odometry.heading
        values = (odometry.x, odometry.y, sin(half), cos(half), *odometry.twist)
        for output in self._outputs:
            output.values[:] = values[: len(output.values)]
            output.publish(time)
        if self._limited is not None:
            self._limited.values[:] = self.controller.limited
            self._limited.publish(time)

    def _transform(self, name: str) -> Any:
        transform = TransformStamped()
        transform.header.frame_id, transform.child_frame_id = self._frames()
        return self._output(
            TFMessage(transforms=[transform]),
            name,
            [f"transforms.0.transform.translation.{axis}" for axis in _POSITION]
            + [f"transforms.0.transform.rotation.{axis}" for axis in _TURN],
            stamps=("transforms.0.header.stamp",),
            qos=TF,
        )

    def _frames(self) -> tuple[str, str]:
        settings, prefix = self.controller.settings, ""
        if settings.tf_frame_prefix_enable:
            prefix = settings.tf_frame_prefix.replace("~", self._namespace) or self._namespace
            prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        return prefix + settings.odom_frame_id, prefix + settings.base_frame_id

    def _handle(self, message: TwistStamped | Twist, now: bool) -> None:
        header, twist = None, message
        if isinstance(message, TwistStamped):
            header, twist = message.header, message.twist
        stamp = 0 if header is None else nanoseconds(header.stamp)
        wanted = kinematics.Twist(twist.linear.x, twist.linear.y, twist.angular.z)
        sent = stamp / 1e9 if stamp else inf

        def check() -> kinematics.Twist:
            if problem := self.controller.velocity_refusal(wanted, sent, self._simulation.time):
                raise CommandError(problem)
            return wanted

        def follow(velocity: kinematics.Twist) -> None:
            self.controller.command(velocity, sent, float(self._simulation.data.time))

        self._take(self.controller.topics.command, check, follow, now, header)
