"""Topics of a controller: commanded motion in, estimated base and markers out."""

import logging
import struct
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from math import atan2
from typing import Any

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, PoseStamped, TwistStamped, Vector3
from nav_msgs.msg import Odometry
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface import inputs
from mujoco_ros.controllers.interface.observation import BaseReading
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.layout import FloatingBase, RobotLayout
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.conversions import split
from mujoco_ros.wire.message_template import MessageTemplate
from mujoco_ros.wire.qos import RELIABLE

_LOG = logging.getLogger(__name__)
TOPIC = "~/markers"
_PERIOD_S = 0.05
_LIFETIME = Duration(nanosec=500_000_000)


class DrawingTopic:
    """Publishes a drawing twenty times a second while the topic is subscribed."""

    def __init__(self, endpoints: Endpoints, frame: str) -> None:
        """Open the topic; markers are in `frame`, of the robot's base."""
        self._frame, self._last, self._subscriptions = frame, 0.0, 0
        self._has_failed = False
        self._publisher = endpoints.publisher(
            MarkerArray, TOPIC, RELIABLE, partial(setattr, self, "_subscriptions")
        )

    def publish(self, draw: Callable[[], inputs.Drawing], time: float) -> None:
        """Publish a drawing if it is due at a time [s]; an exception ends the drawing alone."""
        if self._has_failed or not self._subscriptions or 0.0 <= time - self._last < _PERIOD_S:
            return
        self._last = time
        try:
            drawing = draw()
        except Exception:
            self._has_failed = True
            _LOG.exception("what the controller displays cannot be computed")
            return
        markers = [*map(_line, drawing.lines), *map(_point, drawing.points)]
        second, nanosecond = split(time)
        for marker in markers:
            marker.header.frame_id, marker.lifetime = self._frame, _LIFETIME
            marker.header.stamp.sec, marker.header.stamp.nanosec = second, nanosecond
        self._publisher.publish(MarkerArray(markers=markers))


def _line(line: inputs.DrawnLine) -> Marker:
    marker = _marker(Marker.LINE_STRIP, line.name, line.colour)
    marker.scale.x = line.width
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in line.points.tolist()]
    return marker


def _point(point: inputs.DrawnPoint) -> Marker:
    marker = _marker(Marker.SPHERE, point.name, point.colour)
    marker.scale = Vector3(x=point.diameter, y=point.diameter, z=point.diameter)
    at = marker.pose.position
    at.x, at.y, at.z = point.position.tolist()
    return marker


def _marker(kind: int, name: str, colour: tuple[float, float, float, float]) -> Marker:
    red, green, blue, opacity = colour
    colours = ColorRGBA(r=red, g=green, b=blue, a=opacity)
    marker = Marker(ns=name, type=kind, color=colours)
    marker.pose.orientation.w = 1.0
    return marker


Submit = Callable[[Callable[[], Any]], "Future[Any]"]
ODOM_ESTIMATED, CMD_VEL, GOAL_POSE = "odom_estimated", "cmd_vel", "goal_pose"
ODOM = "odom"
"""Frame of estimates, which drifts in ``world``."""
_NUMBERS = (
    *(f"pose.pose.position.{axis}" for axis in "xyz"),
    *(f"pose.pose.orientation.{axis}" for axis in "wxyz"),
    *(f"twist.twist.linear.{axis}" for axis in "xyz"),
    *(f"twist.twist.angular.{axis}" for axis in "xyz"),
)


class ControllerTopics:
    """The topics that the states of a controller of one robot need."""

    def __init__(
        self,
        endpoints: Endpoints,
        controller: FsmController,
        robot: RobotLayout,
        submit: Submit,
        *,
        now: Callable[[], float],
    ) -> None:
        """Open the topics in the robot's namespace, before the controller is configured.

        `submit` calls a function in the controller's thread, where `now` returns the robot's time
        [s].
        """
        states = controller.machine.instances.values()
        keys = {key.name for state in states for key in state.topics}
        self._store, self._submit, self._now = controller.store, submit, now
        self._rejections = RejectionLog(endpoints.node.get_logger().warning)
        self._output: _OdometryOutput | None = None
        if inputs.ESTIMATED_BASE.name in keys and robot.base is not None:
            self._output = _OdometryOutput(endpoints, robot, robot.base)
        self._drawing: DrawingTopic | None = None
        if inputs.DRAW.name in keys and robot.base is not None:
            self._drawing = DrawingTopic(endpoints, robot.frame(robot.base.name))
        if inputs.VELOCITY_INPUT.name in keys:
            self._velocity = inputs.VelocityInput()
            controller.store.provide(inputs.VELOCITY_INPUT, self._velocity)
            self._topic = in_namespace(robot.namespace, CMD_VEL)
            endpoints.subscription(TwistStamped, self._topic, self._receive, RELIABLE)
        if inputs.GOAL_INPUT.name in keys and robot.base is not None:
            self._goal, self._frames = inputs.GoalInput(), (ODOM, robot.frame(robot.base.name))
            controller.store.provide(inputs.GOAL_INPUT, self._goal)
            self._goal_topic = in_namespace(robot.namespace, GOAL_POSE)
            endpoints.subscription(PoseStamped, self._goal_topic, self._receive_goal, RELIABLE)

    def publish(self, time: float) -> None:
        """Publish what the controller has computed at a tick [s], in its thread."""
        if self._output is not None and inputs.ESTIMATED_BASE in self._store:
            self._output.publish(self._store.get(inputs.ESTIMATED_BASE), time)
        if self._drawing is not None and inputs.DRAW in self._store:
            self._drawing.publish(self._store.get(inputs.DRAW), time)

    def _receive(self, message: TwistStamped) -> None:
        linear, angular = message.twist.linear, message.twist.angular
        velocity = inputs.BodyVelocity(linear.x, linear.y, angular.z)
        self._pass_on(self._topic, partial(self._velocity.receive, velocity))

    def _receive_goal(self, message: PoseStamped) -> None:
        frame, pose = message.header.frame_id, message.pose
        if frame not in self._frames:
            error = unknown("frame", frame, self._frames)
            self._rejections.report(self._goal_topic, "refused", str(error))
            return
        q = pose.orientation
        yaw = atan2(2.0 * (q.w * q.z + q.x * q.y), q.w**2 + q.x**2 - q.y**2 - q.z**2)
        goal = inputs.PlanarGoal(
            inputs.PlanarPose(pose.position.x, pose.position.y, yaw), frame != ODOM
        )
        self._pass_on(self._goal_topic, partial(self._goal.receive, goal))

    def _pass_on(self, topic: str, store: Callable[[float], None]) -> None:
        """Call a function with the robot's time in the controller's thread."""

        def receive() -> None:
            try:
                store(self._now())
            except UserInputError as error:
                self._rejections.report(topic, "refused", str(error))

        with suppress(QueueFullError):  # the physics thread has ended
            self._submit(receive)


class _OdometryOutput:
    def __init__(self, endpoints: Endpoints, robot: RobotLayout, base: FloatingBase) -> None:
        message = Odometry()
        message.header.frame_id = ODOM
        message.child_frame_id = robot.frame(base.name)
        self._template = MessageTemplate(message, _NUMBERS)
        self._offsets = self._template.offsets.tolist()
        self._subscriptions = 0
        self._published: BaseReading | None = None
        topic = in_namespace(robot.namespace, ODOM_ESTIMATED)
        publisher = endpoints.publisher(
            Odometry, topic, RELIABLE, partial(setattr, self, "_subscriptions")
        )
        self._publish = publisher.publish

    def publish(self, base: BaseReading, time: float) -> None:
        if base is self._published or not self._subscriptions:
            return  # the controller does not estimate it now
        self._published, pose = base, base.pose
        values = (*pose.position, *pose.quat_wxyz, *base.linear, *base.angular)
        for offset, value in zip(self._offsets, values, strict=True):
            struct.pack_into("<d", self._template.data, offset, value)
        self._publish(self._template.stamped(*split(time)))
