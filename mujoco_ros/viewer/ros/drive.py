"""Commanded velocities of walking and driving robots."""

import time
from collections.abc import Callable, Sequence

from geometry_msgs.msg import TwistStamped
from rclpy.publisher import Publisher

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.viewer.ros.shell_commands import topic_pub

_TYPE, _NAME = "geometry_msgs/msg/TwistStamped", "cmd_vel"
_GRAPH_S, _PERIOD_S, _EXPIRES_S = 1.0, 0.1, 1.0
"""Periods of the search and of the messages, and age at which a command ends [s]."""
_Velocity = tuple[float, float, float]
_STILL: _Velocity = (0.0, 0.0, 0.0)


class VelocityPublisher:
    """Publishes the velocity of each topic again and again while it is commanded.

    Any thread may call `drive` and `stop`.

    Attributes:
        topics: The topics ``cmd_vel`` that something subscribes to.
    """

    def __init__(self, requests: Requests, endpoints: Endpoints, now: Callable[[], float]) -> None:
        """Publish with the node of `endpoints`; `now` returns the simulated time [s]."""
        self.topics: Sequence[str] = ()
        self._requests, self._endpoints, self._now = requests, endpoints, now
        self._commanded: dict[str, tuple[_Velocity, float, Request]] = {}
        self._publishers: dict[str, Publisher] = {}
        self._search_at = self._publish_at = 0.0

    def drive(self, topic: str, forwards: float, left: float, turn: float) -> Request:
        """Publish a velocity until `stop`, or until a second after the last call [m/s, rad/s].

        The request is the same one until then.
        """
        commanded = self._commanded.get(topic)
        request = self._requests.report(f"drive {topic}") if commanded is None else commanded[2]
        end = time.monotonic() + _EXPIRES_S
        self._commanded[topic] = (forwards, left, turn), end, request
        return request

    def stop(self, topic: str) -> None:
        """Publish a velocity of zero, once, if another one is commanded on the topic."""
        if self._commanded.pop(topic, None) is not None:
            later(self._endpoints.node, self._publish, topic, _STILL)

    def stop_all(self) -> None:
        """Stop on all topics."""
        for topic in list(self._commanded):
            self.stop(topic)

    def tick(self, now: float) -> None:
        """Publish and search when due; `now` is monotonic [s]."""
        if now >= self._search_at:
            self._search_at = now + _GRAPH_S
            node = self._endpoints.node
            self.topics = tuple(
                sorted(
                    name
                    for name, types in node.get_topic_names_and_types()
                    if name.rpartition("/")[2] == _NAME
                    and _TYPE in types
                    and node.count_subscribers(name)
                )
            )
        if not self._commanded or now < self._publish_at:
            return
        self._publish_at = now + _PERIOD_S
        for topic, (velocity, end, request) in list(self._commanded.items()):
            if now > end:  # the page does not respond
                self.stop(topic)
            else:
                message = self._publish(topic, velocity)
                request.command = topic_pub(topic, message, rate_hz=1.0 / _PERIOD_S)

    def _publish(self, topic: str, velocity: _Velocity) -> TwistStamped:
        if topic not in self._publishers:
            self._publishers[topic] = self._endpoints.publisher(TwistStamped, topic, RELIABLE)
        message = TwistStamped()
        message.header.stamp = stamp(self._now())
        message.twist.linear.x, message.twist.linear.y, message.twist.angular.z = velocity
        self._publishers[topic].publish(message)
        return message
