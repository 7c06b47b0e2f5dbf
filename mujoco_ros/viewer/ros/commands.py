"""Commands to the simulator: joints, pulls, pushes, mocap bodies, target frames, and velocities."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

import mujoco
import numpy as np
from control_msgs.msg import DynamicJointState, InterfaceValue
from geometry_msgs.msg import PoseStamped, TwistStamped, WrenchStamped
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.pull import Pull
from mujoco_ros.model.naming import in_namespace, joint_name, topic_token
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import Request, Vector
from mujoco_ros.viewer.ros.requests import Requests, atomic_request, service_call, topic_pub
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.wire.conversions import pose_message, stamp
from mujoco_ros.wire.names import EXTERNAL_WRENCH, MOVE, PULL, TURN, WORLD
from mujoco_ros.wire.qos import LATCHED, RELIABLE


class StateSetter:
    """Sets values by ``~/set_joints``, one request at a time: the newest, from any thread."""

    def __init__(self, node: Node, requests: Requests, parameters: SimulatorParameters) -> None:
        """Use the service of the node that has the `parameters`; `node` is the viewer's own."""
        self._post = partial(later, node)
        self._requests, self._parameters = requests, parameters
        self._wanted: dict[str, Any] = {}
        self._is_waiting = False

    def set_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        """Set positions of joints of a robot [rad or m]."""
        names = {f"{joint_name(namespace, name)}.position": name for name in positions}
        self._post(self._collect, {full: float(positions[name]) for full, name in names.items()})

    def set_pose(self, frame: str, position: np.ndarray, quat_wxyz: np.ndarray) -> None:
        """Set the pose of the entity whose root body has a TF frame, in the world."""
        w, x, y, z = map(float, quat_wxyz)
        self._post(self._collect, {f"{frame}.pose": [*map(float, position), x, y, z, w]})

    def set(self, name: str, values: Mapping[str, Any]) -> Request:
        """Set values by their names in ``~/set_joints`` at one instant, in a request `name`."""
        values = dict(values)
        return self._requests.submit(
            name, lambda request: self._call(values, request, request.complete)
        )

    def _collect(self, values: Mapping[str, Any]) -> None:
        self._wanted |= values
        if not self._is_waiting:
            self._send()

    def _send(self) -> None:
        values, self._wanted = self._wanted, {}
        self._is_waiting = True

        def send(request: Request) -> None:
            def report(ok: bool, reason: str) -> None:
                request.complete(ok, reason)
                self._is_waiting = False
                if self._wanted:
                    self._send()

            self._call(values, request, report)

        self._requests.submit(f"set {', '.join(values)}", send)

    def _call(
        self, values: Mapping[str, Any], request: Request, on_done: Callable[[bool, str], object]
    ) -> None:
        service, message = f"{self._parameters.simulator}/set_joints", atomic_request(values)
        request.command = service_call(SetParametersAtomically, service, message)
        self._parameters.send(values, on_done, "set_joints")


REPEAT_S = 0.05
"""Period of repeated messages: feedback of a pull, velocities; what they move stops without."""
_PRESS_S = 1.0
"""Messages of a slider or handle belong to one press without a longer pause between them [s]."""


class CommandPublisher:
    """Publishes commands from the executor's thread; any thread may call the public methods."""

    def __init__(
        self,
        requests: Requests,
        endpoints: Endpoints,
        now: Callable[[], float],
        setter: StateSetter,
    ) -> None:
        """Open each topic with its first command; `now` is the simulated time of targets [s]."""
        self.set_joints, self.set_pose = setter.set_joints, setter.set_pose
        self._requests, self._endpoints, self._now = requests, endpoints, now
        self._post = partial(later, endpoints.node)
        self._publishers: dict[str, Publisher] = {}
        self._reported: dict[str, tuple[Request, float]] = {}
        self._pulled: tuple[str, Pull, Request] | None = None
        self._repeat_at = 0.0

    @property
    def is_pulling(self) -> bool:
        """Whether a pull is in progress."""
        return self._pulled is not None

    def tick(self, now: float) -> None:
        """Repeat the feedback of the pull when due; `now` is monotonic [s]."""
        if self._pulled is not None and now >= self._repeat_at:
            self._repeat_at = now + REPEAT_S
            self._publish_pull(*self._pulled, InteractiveMarkerFeedback.POSE_UPDATE)

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> Request:
        """Publish position references of joints of a robot [rad or m]."""
        values = [float(value) for value in positions.values()]
        return self._command(namespace, JointState(name=list(positions), position=values))

    def command_velocities(self, namespace: str, velocities: Mapping[str, float]) -> Request:
        """Publish velocity references of joints of a robot [rad/s or m/s]."""
        values = [float(value) for value in velocities.values()]
        return self._command(namespace, JointState(name=list(velocities), velocity=values))

    def command_actuators(self, namespace: str, controls: Mapping[str, float]) -> Request:
        """Publish controls of actuators of a robot that no joint reference drives."""
        message = DynamicJointState(joint_names=list(controls))
        for value in controls.values():
            control = InterfaceValue(interface_names=["ctrl"], values=[float(value)])
            message.interface_values.append(control)
        return self._send(namespace, CommandSource.ACTUATORS, message, "actuators", [*controls])

    def _command(self, namespace: str, message: JointState) -> Request:
        source = CommandSource.JOINT_COMMANDS
        return self._send(namespace, source, message, "joints", message.name)

    def _send(
        self, namespace: str, topic: str, message: Any, kind: str, names: Sequence[str]
    ) -> Request:
        what = names[0] if len(names) == 1 else f"{len(names)} {kind}"
        request = self._report(f"command {what}{f' of {namespace}' if namespace else ''}")
        self._post(self._publish, message, in_namespace(namespace, topic), RELIABLE, request)
        return request

    def pull(self, frame: str, pull: Pull) -> None:
        """Pull at a TF frame until `release`; a pull at another frame ends."""
        self._post(self._pull, frame, pull)

    def release(self) -> None:
        """End the pull."""
        self._post(self._release)

    def push(self, frame: str, force: np.ndarray, torque: np.ndarray) -> Request:
        """Apply a wrench at the origin of a TF frame until the next one; zeros end it [N, Nm]."""
        message = WrenchStamped()
        message.header.frame_id = frame
        for vector, values in ((message.wrench.force, force), (message.wrench.torque, torque)):
            vector.x, vector.y, vector.z = map(float, values)
        request = self._report(f"push {frame}")
        self._post(self._publish, message, EXTERNAL_WRENCH, RELIABLE, request)
        return request

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> Request:
        """Set the pose of a mocap body in the world; names as in `MocapBody`."""
        topic = in_namespace(namespace, "mocap", topic_token(name), "pose")
        request = self._report(f"move {in_namespace(namespace, name)}")
        self._post(self._publish, _pose_stamped(position, quat_wxyz), topic, RELIABLE, request)
        return request

    def publish_target(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> Request:
        """Publish the pose of a target frame in the world, latched."""
        message = _pose_stamped(position, quat_wxyz)
        message.header.stamp = stamp(self._now())
        request = self._report(f"move target {name}")
        self._post(self._publish, message, _target_topic(name), LATCHED, request)
        return request

    def remove_target(self, name: str) -> None:
        """Close the topic of a target frame."""
        self._post(self._close, _target_topic(name))

    def _pull(self, frame: str, pull: Pull) -> None:
        if self._pulled is None or self._pulled[0] != frame:
            self._release()
            request = self._requests.report(f"{'turn' if pull.turns else 'pull'} {frame}")
            self._publish_pull(frame, pull, request, InteractiveMarkerFeedback.MOUSE_DOWN)
        else:
            request = self._pulled[2]
        self._pulled = (frame, pull, request)

    def _release(self) -> None:
        if self._pulled is not None:
            self._publish_pull(*self._pulled, InteractiveMarkerFeedback.MOUSE_UP)
            self._pulled = None

    def _publish_pull(self, frame: str, pull: Pull, request: Request, event: int) -> None:
        lever = np.zeros(3)
        mujoco.mju_rotVecQuat(lever, pull.point, pull.quat_wxyz)
        message = InteractiveMarkerFeedback(
            marker_name=frame, event_type=event, mouse_point_valid=True
        )
        message.header.frame_id = WORLD
        message.control_name = TURN if pull.turns else MOVE
        message.pose = pose_message(pull.position - lever, pull.quat_wxyz)
        message.mouse_point = pose_message(pull.position, pull.quat_wxyz).position
        # The first and the last message of a pull alone would not pull.
        repeats = event == InteractiveMarkerFeedback.POSE_UPDATE
        rate_hz = 1.0 / REPEAT_S
        self._publish(message, PULL, RELIABLE, request if repeats else None, rate_hz=rate_hz)

    def _report(self, name: str) -> Request:
        """Return the request of a message; messages of one press have the same one."""
        now = time.monotonic()
        request, last = self._reported.get(name, (None, -inf))
        if request is None or now > last + _PRESS_S:
            request = self._requests.report(name)
        self._reported[name] = request, now
        return request

    def _publish(
        self,
        message: Any,
        topic: str,
        qos: QoSProfile,
        request: Request | None,
        *,
        rate_hz: float | None = None,
    ) -> None:
        """Publish a message, and write the command that publishes it into the request."""
        if topic not in self._publishers:
            self._publishers[topic] = self._endpoints.publisher(type(message), topic, qos)
        publisher = self._publishers[topic]
        publisher.publish(message)
        if request is not None:
            latched = qos is LATCHED
            name = publisher.topic_name
            request.command = topic_pub(name, message, rate_hz=rate_hz, latched=latched)

    def _close(self, topic: str) -> None:
        if (publisher := self._publishers.pop(topic, None)) is not None:
            self._endpoints.close(publisher)


def _target_topic(name: str) -> str:
    return in_namespace("target", topic_token(name), "pose")


def _pose_stamped(position: np.ndarray, quat_wxyz: np.ndarray) -> PoseStamped:
    message = PoseStamped(pose=pose_message(position, quat_wxyz))
    message.header.frame_id = WORLD
    return message


_TYPE = "geometry_msgs/msg/TwistStamped"
_ROBOT, _TOOL = "cmd_vel", "target_twist"
_FRAMES = {_ROBOT: "", _TOOL: "world"}  # frame of the velocity by the last name of its topic
_CONTROLLER, _POSE = "/cartesian_controller", "/current_pose"
_GRAPH_S, _EXPIRES_S = 1.0, 1.0
"""Period of the search, and age at which a command ends [s]."""
_ZERO: Vector = (0.0, 0.0, 0.0)


class VelocityPublisher:
    """Publishes each velocity while it is commanded; any thread may call `command` and `stop`."""

    def __init__(self, requests: Requests, endpoints: Endpoints, now: Callable[[], float]) -> None:
        self.topics: Sequence[str] = ()  # the topics ``cmd_vel`` that something subscribes to
        self.tool_topics: Sequence[str] = ()  # topics ``target_twist`` of Cartesian controllers
        self._requests, self._endpoints, self._now = requests, endpoints, now
        self._commanded: dict[str, tuple[tuple[Vector, Vector], float, Request]] = {}
        self._publishers: dict[str, Publisher] = {}
        self._search_at = self._publish_at = 0.0

    @property
    def is_driving(self) -> bool:
        """Whether a velocity is commanded."""
        return bool(self._commanded)

    def command(self, topic: str, linear: Vector, angular: Vector) -> Request:
        """Publish a velocity until `stop` or until a second after the last call, as one request.

        A robot moves forwards, left and up, a tool along the axes of ``world`` [m/s, rad/s].
        """
        commanded = self._commanded.get(topic)
        request = self._requests.report(f"drive {topic}") if commanded is None else commanded[2]
        end = time.monotonic() + _EXPIRES_S
        self._commanded[topic] = (linear, angular), end, request
        return request

    def stop(self, topic: str) -> None:
        """Publish a velocity of zero, once, if another one is commanded on the topic."""
        if self._commanded.pop(topic, None) is not None:
            later(self._endpoints.node, self._publish, topic, _ZERO, _ZERO)

    def stop_all(self) -> None:
        """Stop everything that is commanded."""
        for topic in list(self._commanded):
            self.stop(topic)

    def tick(self, now: float) -> None:
        """Publish and search when due; `now` is monotonic [s]."""
        if now >= self._search_at:
            self._search_at = now + _GRAPH_S
            self._search()
        if not self._commanded or now < self._publish_at:
            return
        self._publish_at = now + REPEAT_S
        for topic, (velocity, end, request) in list(self._commanded.items()):
            if now > end:  # the page does not respond
                self.stop(topic)
            else:
                message = self._publish(topic, *velocity)
                request.command = topic_pub(topic, message, rate_hz=1.0 / REPEAT_S)

    def _search(self) -> None:
        node, found = self._endpoints.node, {name: list[str]() for name in _FRAMES}
        for topic, types in sorted(node.get_topic_names_and_types()):
            name = _last_name(topic)
            if (
                name in found
                and _TYPE in types
                and node.count_subscribers(topic)
                and self._has_frame(topic)
            ):
                found[name].append(topic)
        self.topics, self.tool_topics = tuple(found[_ROBOT]), tuple(found[_TOOL])

    def _has_frame(self, topic: str) -> bool:
        """Return false for a controller of the simulator without a frame, which moves nothing."""
        controller = topic.removesuffix(f"/{_TOOL}")
        if not controller.endswith(_CONTROLLER):
            return True
        return bool(self._endpoints.node.count_publishers(f"{controller}{_POSE}"))

    def _publish(self, topic: str, linear: Vector, angular: Vector) -> TwistStamped:
        if topic not in self._publishers:
            self._publishers[topic] = self._endpoints.publisher(TwistStamped, topic, RELIABLE)
        message = TwistStamped()
        message.header.stamp = stamp(self._now())
        message.header.frame_id = _FRAMES[_last_name(topic)]
        for vector, values in ((message.twist.linear, linear), (message.twist.angular, angular)):
            vector.x, vector.y, vector.z = values
        self._publishers[topic].publish(message)
        return message


def _last_name(topic: str) -> str:
    return topic.rpartition("/")[2]
