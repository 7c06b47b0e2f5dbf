"""Client of the servers of interactive markers."""

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from threading import RLock
from typing import Any

from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate
from visualization_msgs.srv import GetInteractiveMarkers

from mujoco_ros.model.pose import Pose
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.marker_descriptions import (
    InteractiveMarkerInfo,
    MarkerKey,
    MarkerServerInfo,
)
from mujoco_ros.viewer.message_shapes import MOST_DRAWN, Shape, printable
from mujoco_ros.viewer.ros.interactive_markers.feedback import FeedbackQueue
from mujoco_ros.viewer.ros.interactive_markers.marker_set import DEPTH, MarkerSet, UpdateQueue
from mujoco_ros.viewer.ros.requests import Requests, topic_pub
from mujoco_ros.wire.conversions import pose_message
from mujoco_ros.wire.qos import RELIABLE, subscription_qos
from mujoco_ros.wire.service_caller import ServiceCaller

UPDATES = "/update"
"""End of the name of the topic of a server."""
_MOST_SERVERS = 20  # servers that are followed
_DRAW_S = 0.1  # period of the shapes [s]
_READ_S = 0.02  # time in a tick after which one update of each server is read [s]
_LINGER_S = 3.0  # time for which feedback is published to a server that is no longer followed [s]
_EXPIRES_S, _ALIVE_S = 3.0, 0.3
"""Time after which a motion without calls ends, and period of its keep-alive messages [s]."""


@dataclass(eq=False, slots=True)
class _Server:
    """A server that is followed."""

    namespace: str  # its namespace
    updates: UpdateQueue  # its updates that wait
    qos: QoSProfile  # quality of service of the subscription
    subscription: Subscription  # subscription of its updates
    # Identifiers of the publishers of its updates
    publishers: frozenset[tuple[int, ...]] = frozenset()

    @property
    def markers(self) -> MarkerSet:
        return self.updates.markers

    @property
    def service(self) -> str:
        return f"{self.namespace}/get_interactive_markers"

    def shapes(self) -> Sequence[Shape]:
        """Return the first shapes of its markers; the shapes of bare controls are last."""
        markers = self.markers.markers.values()
        described = (shape for marker in markers for shape in marker.shapes)
        added = (shape for marker in markers for shape in marker.default_shapes)
        return list(islice(chain(described, added), MOST_DRAWN + 1))


@dataclass(slots=True)
class _Motion:
    """A motion of the user."""

    key: MarkerKey  # the marker
    control: str  # name of the control
    request: Request  # its request as it is displayed
    is_called: bool = True  # whether the user called since the last tick
    until: float = 0.0  # when it ends without a call [s]
    alive_at: float = 0.0  # when a keep-alive message is due [s]


class MarkerServers:
    """Follows servers, and sends what the user does; the client's methods are for any thread."""

    def __init__(self, caller: ServiceCaller, requests: Requests, endpoints: Endpoints) -> None:
        # The servers by namespace; replaced, never changed
        self.known: Mapping[str, MarkerServerInfo] = {}
        # Shapes of the servers, by the topic of their updates; replaced, never changed
        self.shapes: Mapping[str, Sequence[Shape]] = {}
        self.left_out = 0  # number of servers that are too many, and not followed
        self._caller, self._requests, self._endpoints = caller, requests, endpoints
        self._servers: dict[str, _Server] = {}  # by topic
        self._publishers: dict[str, Publisher] = {}  # of feedback, by namespace
        self._feedback = FeedbackQueue(self._publish)
        self._client = f"{endpoints.node.get_fully_qualified_name()}-{os.getpid()}"
        self._motion: _Motion | None = None
        self._is_changed = self._must_draw = False
        self._draw_at = 0.0
        self._lock = RLock()

    @property
    def is_sending(self) -> bool:
        """Whether feedback is sent or waits."""
        return bool(self._feedback) or self._motion is not None

    def drag(self, key: MarkerKey, control: str, pose: Pose) -> None:
        """Move a marker in its frame until `release`, or until some seconds after the last call."""
        pose.check(f"marker '{key.name}'")
        with self._lock:
            found = self._find(key)
            motion = self._motion
            is_other = motion is not None and (motion.key, motion.control) != (key, control)
            if found is None or is_other:
                self.release()
                motion = None
            if found is None:
                return
            server, marker = found
            if motion is None:
                request = self._report("move", key)
                motion = self._motion = _Motion(key, control, request)
                server.markers.held = key.name
                self._send(key, marker, control, InteractiveMarkerFeedback.MOUSE_DOWN)
            motion.is_called = True
            if not marker.pose.equals(pose):
                server.markers.move(key.name, pose)
                self._set_known()
                marker = server.markers.markers[key.name]
                update = InteractiveMarkerFeedback.POSE_UPDATE
                motion.request.command = self._send(key, marker, control, update)
                motion.alive_at = 0.0  # again after its period

    def release(self) -> None:
        """End the motion."""
        with self._lock:
            motion, self._motion = self._motion, None
            server = None if motion is None else self._servers.get(f"{motion.key.server}{UPDATES}")
            if motion is None or server is None:
                return
            marker = server.markers.markers.get(motion.key.name)
            if marker is not None:
                self._send(motion.key, marker, motion.control, InteractiveMarkerFeedback.MOUSE_UP)
            server.markers.release()
            self._set_known()

    def place(self, key: MarkerKey, control: str, pose: Pose) -> None:
        """Move a marker in its frame at once."""
        with self._lock:
            self.drag(key, control, pose)
            self.release()

    def click(self, key: MarkerKey, control: str) -> None:
        """Press a button."""
        event = InteractiveMarkerFeedback.BUTTON_CLICK
        self._press(key, control, f"press {control} of", event)

    def select(self, key: MarkerKey, control: str, entry: int) -> None:
        """Select an entry of the menu of a marker, by its id."""
        event = InteractiveMarkerFeedback.MENU_SELECT
        self._press(key, control, f"select entry {entry} of", event, entry)

    def close(self) -> None:
        """End the motion, and send the feedback that waits."""
        self.release()
        self._feedback.finish()

    def follow(self, topics: Collection[str]) -> None:
        """Follow the servers that publish updates on these topics, and no others."""
        found = sorted(topic for topic in topics if topic.endswith(UPDATES))
        followed, self.left_out = found[:_MOST_SERVERS], len(found[_MOST_SERVERS:])
        node = self._endpoints.node
        with self._lock:
            for topic in self._servers.keys() - set(followed):
                self._close(topic)
            for topic in followed:
                offers = node.get_publishers_info_by_topic(topic)
                qos = subscription_qos([offer.qos_profile for offer in offers], DEPTH)
                publishers = frozenset(tuple(offer.endpoint_gid) for offer in offers)
                if topic not in self._servers:
                    self._servers[topic] = self._open(topic, qos)
                server = self._servers[topic]
                if server.qos != qos:
                    self._endpoints.close(server.subscription)
                    server.qos = qos
                    server.subscription = self._subscribe(topic, server.updates, qos)
                if server.publishers != publishers:  # also after a restart of the server
                    server.publishers = publishers
                    server.updates.start()

    def tick(self, now: float) -> None:
        """Read updates, request markers and publish feedback when due; `now` is monotonic [s]."""
        with self._lock:
            end = time.monotonic() + _READ_S
            for topic, server in list(self._servers.items()):
                self._is_changed |= server.updates.read(now, end)
                request_at = server.updates.request_at
                if request_at is not None and now >= request_at:
                    self._request(topic, server, now)
            self._continue_motion(now)
            if self._is_changed:
                self._set_known()
            if self._must_draw and now >= self._draw_at:
                self._must_draw, self._draw_at = False, now + _DRAW_S
                self.shapes = {topic: server.shapes() for topic, server in self._servers.items()}
        self._feedback.tick(now)

    def _open(self, topic: str, qos: QoSProfile) -> _Server:
        namespace = topic.removesuffix(UPDATES)
        updates = UpdateQueue(MarkerSet(namespace))
        if namespace not in self._publishers:
            # Before the first feedback, which the server would lose until it discovers this.
            self._publishers[namespace] = self._endpoints.publisher(
                InteractiveMarkerFeedback, f"{namespace}/feedback", RELIABLE
            )
        self._is_changed = True
        return _Server(namespace, updates, qos, self._subscribe(topic, updates, qos))

    def _subscribe(self, topic: str, updates: UpdateQueue, qos: QoSProfile) -> Subscription:
        return self._endpoints.subscription(
            InteractiveMarkerUpdate, topic, updates.receive, qos, raw=True
        )

    def _close(self, topic: str) -> None:
        namespace = topic.removesuffix(UPDATES)
        if self._motion is not None and self._motion.key.server == namespace:
            self.release()
        server = self._servers.pop(topic)
        self._endpoints.close(server.subscription)
        self._caller.forget(server.service)
        self._endpoints.later(_LINGER_S, lambda: self._close_feedback(namespace))
        self._is_changed = True

    def _close_feedback(self, namespace: str) -> None:
        """Close the publisher of feedback, unless the server is followed again."""
        with self._lock:
            if self._feedback:
                self._endpoints.later(_LINGER_S, lambda: self._close_feedback(namespace))
            elif f"{namespace}{UPDATES}" not in self._servers and namespace in self._publishers:
                self._endpoints.close(self._publishers.pop(namespace))

    def _request(self, topic: str, server: _Server, now: float) -> None:
        """Request all markers of a server, unless it is closed when it responds."""

        def guarded(act: Callable[[Any], None]) -> Callable[[Any], None]:
            def finish(found: Any) -> None:
                with self._lock:
                    if self._servers.get(topic) is server:
                        act(found)
                        self._is_changed = True

            return finish

        updates, kind = server.updates, GetInteractiveMarkers
        updates.request(now)
        respond, fail = guarded(updates.respond), guarded(updates.fail)
        self._caller.call(kind, server.service, kind.Request(), respond, fail, retry=True)

    def _continue_motion(self, now: float) -> None:
        motion = self._motion
        if motion is None:
            return
        if motion.is_called:
            motion.is_called = False
            motion.until = now + _EXPIRES_S
            motion.alive_at = motion.alive_at or now + _ALIVE_S
        found = self._find(motion.key)
        is_held = found is not None and found[0].markers.held == motion.key.name
        if found is None or not is_held or now > motion.until:
            self.release()
        elif now >= motion.alive_at:
            motion.alive_at = now + _ALIVE_S
            self._send(motion.key, found[1], motion.control, InteractiveMarkerFeedback.KEEP_ALIVE)

    def _find(self, key: MarkerKey) -> tuple[_Server, InteractiveMarkerInfo] | None:
        server = self._servers.get(f"{key.server}{UPDATES}")
        marker = None if server is None else server.markers.markers.get(key.name)
        return None if server is None or marker is None else (server, marker)

    def _set_known(self) -> None:
        self.known = {server.namespace: server.markers.info for server in self._servers.values()}
        self._is_changed, self._must_draw = False, True

    def _report(self, action: str, key: MarkerKey) -> Request:
        return self._requests.report(printable(f"{action} marker {key.server}: {key.name}"))

    def _press(self, key: MarkerKey, control: str, action: str, event: int, entry: int = 0) -> None:
        with self._lock:
            if (found := self._find(key)) is not None:
                request = self._report(action, key)
                request.command = self._send(key, found[1], control, event, entry)

    def _send(
        self,
        key: MarkerKey,
        marker: InteractiveMarkerInfo,
        control: str,
        event: int,
        entry: int = 0,
    ) -> str:
        """Send feedback later; return the command that does the same."""
        message = InteractiveMarkerFeedback(
            client_id=self._client,
            marker_name=marker.name,
            control_name=control,
            event_type=event,
            menu_entry_id=entry,
            pose=pose_message(marker.pose.position, marker.pose.quat_wxyz),
        )
        message.header.frame_id = marker.frame  # without a time: at the newest transform
        self._feedback.add(key, message)
        return topic_pub(f"{key.server}/feedback", message)

    def _publish(self, key: MarkerKey, message: InteractiveMarkerFeedback) -> None:
        with self._lock:
            if (publisher := self._publishers.get(key.server)) is not None:
                publisher.publish(message)
