"""Client of the servers of interactive markers."""

import os
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from threading import RLock

from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate
from visualization_msgs.srv import GetInteractiveMarkers

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.graph_topics import subscription_qos
from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.bridge.simulation_interfaces.entities.messages import pose_message
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.interactive_markers.descriptions import (
    InteractiveMarkerInfo,
    MarkerKey,
    MarkerServerInfo,
)
from mujoco_ros.viewer.interactive_markers.marker_shapes import interactive_marker_shapes
from mujoco_ros.viewer.message_shapes import Shape
from mujoco_ros.viewer.ros.interactive_markers.feedback import FeedbackQueue
from mujoco_ros.viewer.ros.interactive_markers.marker_set import MarkerSet

UPDATES = "/update"
"""End of the name of the topic of a server."""
_MOST_SERVERS, _DEPTH = 20, 100
"""Servers that are followed, and updates that wait."""
_MOST_SHAPES, _DRAW_S = 2000, 0.1
"""Shapes of a server after which no more markers are drawn, and period of the shapes [s]."""
_LARGEST = 1 << 20
"""Longest update that is read [bytes]."""
_REQUEST_S, _REFUSED_S = 1.0, 10.0
"""Shortest time between two requests to a server, and that after an update that is too long [s]."""
_LATE_S = 1.0
"""Time after a response in which an update that it contains may still arrive [s]."""
_EXPIRES_S, _ALIVE_S = 3.0, 0.3
"""Time after which a motion without calls ends, and period of its keep-alive messages [s]."""


@dataclass(eq=False, slots=True)
class _Server:
    """A server that is followed.

    Attributes:
        namespace: Its namespace.
        markers: Its markers.
        qos: That of the subscription.
        subscription: That of its updates.
        feedback: The publisher of feedback.
        waiting: Serialized updates; empty instead of one that is too long.
        publishers: Identifiers of the publishers of its updates.
        request_at: When all markers are requested [s]; None if they are not.
        requested_at: When they were requested [s].
        responded_at: When the response came [s].
        drawn: The shapes of each marker.
    """

    namespace: str
    markers: MarkerSet
    qos: QoSProfile
    subscription: Subscription
    feedback: Publisher
    waiting: deque[bytes]
    publishers: frozenset[tuple[int, ...]] = frozenset()
    request_at: float | None = None
    requested_at: float = -inf
    responded_at: float = -inf
    drawn: dict[str, tuple[InteractiveMarkerInfo, tuple[Shape, ...]]] = field(default_factory=dict)

    @property
    def service(self) -> str:
        """Name of the service that returns all markers."""
        return f"{self.namespace}/get_interactive_markers"

    def shapes(self) -> Sequence[Shape]:
        """Return the first shapes of its markers; only those of changed ones are computed."""
        shapes: list[Shape] = []
        before, self.drawn = self.drawn, {}
        for name, marker in self.markers.markers.items():
            found = before.get(name)
            if found is None or found[0] is not marker:
                found = marker, tuple(interactive_marker_shapes(marker))
            self.drawn[name] = found
            shapes += found[1]
            if len(shapes) > _MOST_SHAPES:
                break
        return shapes


@dataclass(slots=True)
class _Motion:
    """A motion of the user.

    Attributes:
        key: The marker.
        control: Name of the control.
        is_called: Whether the user called since the last tick.
        until: When it ends without a call [s].
        alive_at: When a keep-alive message is due [s].
    """

    key: MarkerKey
    control: str
    is_called: bool = True
    until: float = 0.0
    alive_at: float = 0.0


class MarkerServers:
    """Follows servers, and sends what the user does; any thread may call the methods of the client.

    Attributes:
        known: The servers by namespace; replaced, never changed.
        shapes: Shapes of the servers, by the topic of their updates; replaced, never changed.
    """

    def __init__(
        self, caller: ServiceCaller, endpoints: Endpoints, now: Callable[[], float]
    ) -> None:
        """Follow no server; `now` returns the simulated time of feedback [s]."""
        self.known: Mapping[str, MarkerServerInfo] = {}
        self.shapes: Mapping[str, Sequence[Shape]] = {}
        self._caller, self._endpoints, self._now = caller, endpoints, now
        self._servers: dict[str, _Server] = {}  # by topic
        self._feedback = FeedbackQueue(self._publish)
        self._client = f"{endpoints.node.get_fully_qualified_name()}-{os.getpid()}"
        self._motion: _Motion | None = None
        self._is_changed = self._must_draw = False
        self._draw_at = 0.0
        self._lock = RLock()

    @property
    def is_sending(self) -> bool:
        """Whether feedback waits, or the user moves a marker."""
        return bool(self._feedback) or self._motion is not None

    def drag(self, key: MarkerKey, control: str, pose: Pose) -> None:
        """Move a marker in its frame until `release`, or until some seconds after the last call.

        Raises:
            UserInputError: The pose is invalid.
        """
        pose.check(f"marker '{key.name}'")
        with self._lock:
            found = self._find(key)
            motion = self._motion
            if motion is not None and (
                found is None or (motion.key, motion.control) != (key, control)
            ):
                self.release()
                motion = None
            if found is None:
                return
            server, marker = found
            if motion is None:
                motion = self._motion = _Motion(key, control)
                server.markers.held = key.name
                self._send(key, marker, control, InteractiveMarkerFeedback.MOUSE_DOWN)
            motion.is_called = True
            if not marker.pose.equals(pose):
                server.markers.move(key.name, pose)
                self._set_known()
                marker = server.markers.markers[key.name]
                self._send(key, marker, control, InteractiveMarkerFeedback.POSE_UPDATE)

    def release(self) -> None:
        """End the motion."""
        with self._lock:
            motion, self._motion = self._motion, None
            found = None if motion is None else self._find(motion.key)
            if motion is None or found is None:
                return
            server, marker = found
            self._send(motion.key, marker, motion.control, InteractiveMarkerFeedback.MOUSE_UP)
            server.markers.release()
            self._set_known()

    def place(self, key: MarkerKey, control: str, pose: Pose) -> None:
        """Move a marker in its frame at once.

        Raises:
            UserInputError: The pose is invalid.
        """
        with self._lock:
            self.drag(key, control, pose)
            self.release()

    def click(self, key: MarkerKey, control: str) -> None:
        """Press a button."""
        with self._lock:
            if (found := self._find(key)) is not None:
                self._send(key, found[1], control, InteractiveMarkerFeedback.BUTTON_CLICK)

    def select(self, key: MarkerKey, control: str, entry: int) -> None:
        """Select an entry of the menu of a marker, by its id."""
        with self._lock:
            if (found := self._find(key)) is not None:
                event = InteractiveMarkerFeedback.MENU_SELECT
                self._send(key, found[1], control, event, entry)

    def close(self) -> None:
        """End the motion, and publish what waits at once."""
        self.release()
        while self._feedback:
            self._feedback.publish_next()

    def follow(self, topics: Collection[str]) -> None:
        """Follow the servers that publish updates on these topics, and no others."""
        followed = sorted(it for it in topics if it.endswith(UPDATES))[:_MOST_SERVERS]
        node = self._endpoints.node
        with self._lock:
            for topic in self._servers.keys() - set(followed):
                self._close(topic)
            for topic in followed:
                offers = node.get_publishers_info_by_topic(topic)
                qos = subscription_qos([it.qos_profile for it in offers], _DEPTH)
                publishers = frozenset(tuple(it.endpoint_gid) for it in offers)
                if topic in self._servers and self._servers[topic].qos != qos:
                    self._close(topic)
                if topic not in self._servers:
                    self._servers[topic] = self._open(topic, qos)
                server = self._servers[topic]
                if server.publishers != publishers:  # also after a restart of the server
                    server.publishers = publishers
                    self._forget_sequence(server, 0.0)

    def tick(self, now: float) -> None:
        """Read updates, request markers and publish feedback when due; `now` is monotonic [s]."""
        with self._lock:
            for topic, server in list(self._servers.items()):
                self._read(server, now)
                if server.request_at is not None and now >= server.request_at:
                    self._request(topic, server, now)
            self._continue_motion(now)
            if self._is_changed:
                self._set_known()
            if self._must_draw and now >= self._draw_at:
                self._must_draw, self._draw_at = False, now + _DRAW_S
                self.shapes = {topic: it.shapes() for topic, it in self._servers.items()}
        self._feedback.tick(now)

    def _open(self, topic: str, qos: QoSProfile) -> _Server:
        namespace = topic.removesuffix(UPDATES)
        waiting: deque[bytes] = deque(maxlen=_DEPTH)

        def receive(serialized: bytes) -> None:
            waiting.append(serialized if len(serialized) <= _LARGEST else b"")

        self._is_changed = True
        return _Server(
            namespace=namespace,
            qos=qos,
            markers=MarkerSet(namespace),
            waiting=waiting,
            subscription=self._endpoints.subscription(
                InteractiveMarkerUpdate, topic, receive, qos, raw=True
            ),
            # Before the first feedback, which the server would lose until it discovers this.
            feedback=self._endpoints.publisher(
                InteractiveMarkerFeedback, f"{namespace}/feedback", RELIABLE
            ),
        )

    def _close(self, topic: str) -> None:
        server = self._servers.pop(topic)
        self._endpoints.close(server.subscription)
        self._endpoints.close(server.feedback)
        self._caller.forget(server.service)
        self._is_changed = True

    def _request(self, topic: str, server: _Server, now: float) -> None:
        """Request all markers; updates wait for the response."""
        server.request_at, server.requested_at = None, now

        def is_open() -> bool:
            return self._servers.get(topic) is server

        def respond(response: GetInteractiveMarkers.Response) -> None:
            with self._lock:
                if is_open():
                    server.markers.reset(response)
                    server.responded_at = time.monotonic()
                    self._is_changed = True

        def fail(reason: str) -> None:
            with self._lock:
                if is_open():
                    server.markers.note("service", reason)
                    server.request_at = now + _REQUEST_S
                    self._is_changed = True

        request = GetInteractiveMarkers.Request()
        self._caller.call(GetInteractiveMarkers, server.service, request, respond, fail, retry=True)

    def _read(self, server: _Server, now: float) -> None:
        """Apply the updates that wait, until one is missing."""
        while server.waiting and server.markers.sequence is not None:
            serialized = server.waiting.popleft()
            self._is_changed = True
            if not serialized:
                server.markers.note("size", f"an update is longer than {_LARGEST} bytes")
                self._forget_sequence(server, now + _REFUSED_S)
                return
            message = deserialize_message(serialized, InteractiveMarkerUpdate)
            is_late = now - server.responded_at < _LATE_S
            if not server.markers.update(message, may_be_late=is_late):
                self._forget_sequence(server, server.requested_at + _REQUEST_S)

    def _forget_sequence(self, server: _Server, request_at: float) -> None:
        server.markers.sequence = None
        server.request_at = request_at

    def _continue_motion(self, now: float) -> None:
        """Keep the motion alive, or end it if the user moves no longer."""
        motion = self._motion
        if motion is None:
            return
        if motion.is_called:
            motion.is_called = False
            motion.until = now + _EXPIRES_S
            motion.alive_at = motion.alive_at or now + _ALIVE_S
        found = self._find(motion.key)
        if found is None or now > motion.until:
            self.release()
        elif now >= motion.alive_at:
            motion.alive_at = now + _ALIVE_S
            self._send(motion.key, found[1], motion.control, InteractiveMarkerFeedback.KEEP_ALIVE)

    def _find(self, key: MarkerKey) -> tuple[_Server, InteractiveMarkerInfo] | None:
        server = self._servers.get(f"{key.server}{UPDATES}")
        marker = None if server is None else server.markers.markers.get(key.name)
        return None if server is None or marker is None else (server, marker)

    def _set_known(self) -> None:
        self.known = {it.namespace: it.markers.info for it in self._servers.values()}
        self._is_changed, self._must_draw = False, True

    def _send(
        self,
        key: MarkerKey,
        marker: InteractiveMarkerInfo,
        control: str,
        event: int,
        entry: int = 0,
    ) -> None:
        message = InteractiveMarkerFeedback(
            client_id=self._client,
            marker_name=marker.name,
            control_name=control,
            event_type=event,
            menu_entry_id=entry,
            pose=pose_message(marker.pose.position, marker.pose.quat_wxyz),
        )
        message.header.frame_id = marker.frame
        if marker.is_stamped:  # else the server keeps its header
            message.header.stamp = stamp(self._now())
        self._feedback.add(key, message)

    def _publish(self, key: MarkerKey, message: InteractiveMarkerFeedback) -> None:
        with self._lock:
            if (found := self._servers.get(f"{key.server}{UPDATES}")) is not None:
                found.feedback.publish(message)
