"""Markers of what a controller displays."""

import logging
from collections.abc import Callable

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.controllers.interface.outputs import Drawing, DrawnLine, DrawnPoint
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.qos import RELIABLE
from mujoco_ros.wire.stamps import split

_LOG = logging.getLogger(__name__)
TOPIC = "~/markers"
_PERIOD_S = 0.05
_LIFETIME = Duration(nanosec=500_000_000)


class DrawingTopic:
    """Publishes a drawing twenty times a second while the topic is subscribed."""

    def __init__(self, endpoints: Endpoints, frame: str) -> None:
        """Open the topic; `frame` is that of the robot's base."""
        self._frame, self._last, self._subscriptions = frame, 0.0, 0
        self._has_failed = False
        self._publisher = endpoints.publisher(MarkerArray, TOPIC, RELIABLE, self._count)

    def _count(self, subscriptions: int) -> None:
        self._subscriptions = subscriptions

    def publish(self, draw: Callable[[], Drawing], time: float) -> None:
        """Publish what a function returns, if it is due at a time of the robot [s].

        An exception of the function is logged, and the drawing ends: the controller continues.
        """
        if self._has_failed or not self._subscriptions or 0.0 <= time - self._last < _PERIOD_S:
            return
        self._last = time
        try:
            drawing = draw()
        except Exception:
            self._has_failed = True
            _LOG.exception("what the controller displays cannot be computed")
            return
        markers = [_line(it) for it in drawing.lines] + [_point(it) for it in drawing.points]
        second, nanosecond = split(time)
        for marker in markers:
            marker.header.frame_id, marker.lifetime = self._frame, _LIFETIME
            marker.header.stamp.sec, marker.header.stamp.nanosec = second, nanosecond
        self._publisher.publish(MarkerArray(markers=markers))


def _line(line: DrawnLine) -> Marker:
    marker = _marker(Marker.LINE_STRIP, line.name, line.colour)
    marker.scale.x = line.width
    marker.points = [Point(x=x, y=y, z=z) for x, y, z in line.points.tolist()]
    return marker


def _point(point: DrawnPoint) -> Marker:
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
