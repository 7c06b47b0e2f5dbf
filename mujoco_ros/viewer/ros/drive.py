"""Commanded velocities of robots and of their frames."""

import time
from collections.abc import Callable, Sequence

from geometry_msgs.msg import TwistStamped
from rclpy.publisher import Publisher

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import Request, Vector
from mujoco_ros.viewer.ros.commands import REPEAT_S
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.viewer.ros.shell_commands import topic_pub
from mujoco_ros.wire.conversions import stamp
from mujoco_ros.wire.qos import RELIABLE

_TYPE = "geometry_msgs/msg/TwistStamped"
_ROBOT, _TOOL = "cmd_vel", "target_twist"
_FRAMES = {_ROBOT: "", _TOOL: "world"}
"""Frame of the velocity by the last name of its topic."""
_CONTROLLER, _POSE = "/cartesian_controller", "/current_pose"
_GRAPH_S, _EXPIRES_S = 1.0, 1.0
"""Period of the search, and age at which a command ends [s]."""
_ZERO: Vector = (0.0, 0.0, 0.0)


class VelocityPublisher:
    """Publishes the velocity of each topic again and again while it is commanded.

    Any thread may call `drive` and `stop`.

    Attributes:
        topics: The topics ``cmd_vel`` that something subscribes to.
        tool_topics: Those of Cartesian controllers, ``target_twist``.
    """

    def __init__(self, requests: Requests, endpoints: Endpoints, now: Callable[[], float]) -> None:
        """Publish with the node of `endpoints`; `now` returns the simulated time [s]."""
        self.topics: Sequence[str] = ()
        self.tool_topics: Sequence[str] = ()
        self._requests, self._endpoints, self._now = requests, endpoints, now
        self._commanded: dict[str, tuple[tuple[Vector, Vector], float, Request]] = {}
        self._publishers: dict[str, Publisher] = {}
        self._search_at = self._publish_at = 0.0

    @property
    def is_driving(self) -> bool:
        """Whether a velocity is commanded."""
        return bool(self._commanded)

    def drive(self, topic: str, linear: Vector, angular: Vector) -> Request:
        """Publish a velocity until `stop`, or until a second after the last call [m/s, rad/s].

        The request is the same one until then.
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
        """Stop on all topics."""
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
