"""Subscriptions to the topics whose messages are drawn, in the frames of TF."""

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import islice
from math import inf
from operator import is_not
from time import monotonic
from typing import Literal

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.message_shapes import MOST_DRAWN, JointPath, Shape, TfFrame
from mujoco_ros.viewer.ros import drawn_messages
from mujoco_ros.viewer.ros.interactive_markers.marker_servers import UPDATES, MarkerServers
from mujoco_ros.wire.qos import subscription_qos

_LOG = logging.getLogger(__name__)

_STATIC = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
_DEPTH, _MOST = 100, 100
"""Depth of the queue of /tf, and most messages that wait."""
_MOST_MOVING = 1000  # frames of /tf that are kept
_POSE, _NAME_END = 56, 16
"""Sizes of a serialized pose, and of the part of a name before it that is compared [bytes]."""
_KEPT_S = 5.0  # wall time for which a frame of /tf is kept after its last message [s]


class FrameTree:
    """Frames of /tf_static, and of /tf while frames are needed that are not static.

    A simulator may publish many frames 1000 times a second. So only the newest message of those
    with the same first and last frame is deserialized, ten times a second. A frame of /tf that is
    not received for some seconds is dropped; a pause of the simulation does not count, since its
    nodes may publish nothing then.
    """

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._static: dict[str, TfFrame] = {}
        self._moving: dict[str, TfFrame] = {}
        # Frames by name, as of the last tick
        self.frames: Mapping[str, TfFrame] = {}  # replaced, since another thread reads it
        self._needed: Collection[str] | None = ()
        self._received_at: dict[str, float] = {}  # by `_running_s`
        self._running_s = 0.0  # wall time while the simulated time changed
        self._last = 0.0, 0.0  # wall time and simulated time of the last tick
        self._read_at = 0.0
        self._waiting: dict[bytes, bytes] = {}  # by the first and last frames of a message
        self._subscription: Subscription | None = None
        endpoints.subscription(TFMessage, "/tf_static", self._receive_static, _STATIC)

    def need(self, names: Collection[str] | None) -> None:
        """Set the names of the needed frames, None for all, from any thread."""
        self._needed = names

    def tick(self, now: float, time: float) -> None:
        """Open or close the subscription, read the newest transforms, and drop old ones.

        `now` is monotonic, `time` simulated [s].
        """
        if time != self._last[1]:
            self._running_s += now - self._last[0]
        self._last = now, time
        needed = self._needed
        is_needed = needed is None or not self._static.keys() >= set(needed)
        if is_needed and self._subscription is None:
            self._subscription = self._endpoints.subscription(
                TFMessage, "/tf", self._receive, QoSProfile(depth=_DEPTH), raw=True
            )
        if not is_needed and self._subscription is not None:
            self._endpoints.close(self._subscription)
            self._subscription = None
        if now < self._read_at:
            return
        self._read_at = now + _PERIOD_S
        waiting, self._waiting = self._waiting, {}
        for serialized in waiting.values():
            message = deserialize_message(serialized, TFMessage)
            for name in _read(message, self._moving, _MOST_MOVING):
                self._received_at[name] = self._running_s
        for name in list(self._moving):
            if not is_needed or self._running_s - self._received_at[name] > _KEPT_S:
                del self._moving[name], self._received_at[name]
        self.frames = {**self._static, **self._moving}

    def _receive(self, serialized: bytes) -> None:
        key = _first_and_last(serialized)
        if key in self._waiting or len(self._waiting) < _MOST:
            self._waiting[key] = serialized

    def _receive_static(self, message: TFMessage) -> None:
        _read(message, self._static, inf)


def _first_and_last(serialized: bytes) -> bytes:
    """Return the number of transforms, the names of the first one, and the end of the last name."""
    order: Literal["little", "big"] = "little" if serialized[1:2] == b"\1" else "big"
    parent = 20  # after the encoding, the number, and the stamp and length of the first one
    child = parent + int.from_bytes(serialized[16:parent], order)
    child += -child % 4
    end = child + 4 + int.from_bytes(serialized[child : child + 4], order)
    # The last name precedes seven numbers of the last transform.
    return serialized[4:8] + serialized[parent:end] + serialized[-_POSE - _NAME_END : -_POSE]


def _read(message: TFMessage, frames: dict[str, TfFrame], most: float) -> list[str]:
    """Add transforms to at most `most` frames; return the names of those that were added."""
    added = []
    for transform in message.transforms:
        child = transform.child_frame_id
        p, q = transform.transform.translation, transform.transform.rotation
        pose = Pose(position=np.array([p.x, p.y, p.z]), quat_wxyz=np.array([q.w, q.x, q.y, q.z]))
        try:
            pose.check(child)
        except UserInputError:
            continue
        if child in frames or len(frames) < most:
            frames[child] = TfFrame(transform.header.frame_id, pose)
            added.append(child)
    return added


_GRAPH_S, _PERIOD_S = 1.0, 0.1
"""Periods in which topics are searched, and messages are deserialized [s]."""
_MESSAGE_DEPTH = 50  # messages of a topic of markers that wait
_BUDGET_S = 0.02  # time in each period for messages of a topic, and for shapes of its markers [s]
_REST = 5.0  # period in terms of the time that a topic took, if that is longer
_ANY_PUBLISHER = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
_MOST_MARKERS = 2000  # markers of a topic; the oldest ones of more are dropped


@dataclass(eq=False, slots=True)
class _Drawn:
    """A subscribed topic."""

    kind: str  # type of its messages
    qos: QoSProfile  # quality of service of the subscription
    subscription: Subscription
    waiting: deque[bytes]  # serialized messages
    # Shapes and end of each marker, in simulated time [s]
    markers: dict[tuple[str, int], tuple[tuple[Shape, ...], float]] = field(default_factory=dict)
    # Markers whose newest shapes are not computed yet
    changed: dict[tuple[str, int], Marker] = field(default_factory=dict)
    due_at: float = 0.0  # when messages are deserialized again [s]

    def drop(self, key: tuple[str, int]) -> None:
        self.markers.pop(key, None)
        self.changed.pop(key, None)


class DrawnTopics:
    """Finds topics of messages that can be drawn, and receives the topics that are shown."""

    def __init__(
        self, endpoints: Endpoints, now: Callable[[], float], servers: MarkerServers
    ) -> None:
        """Search topics; `servers` has the interactive markers, `now` is simulated time [s]."""
        self.topics: Mapping[str, str] = {}  # types of the topics by name
        self._tree = FrameTree(endpoints)
        self.need_frames = self._tree.need
        self._endpoints, self._now, self._servers = endpoints, now, servers
        self._chosen: dict[str, bool] = {}
        self._drawn: dict[str, _Drawn] = {}
        self._shapes: dict[str, Sequence[Shape]] = {}
        self._paths: dict[str, JointPath] = {}
        self._search_at = self._time = -inf

    @property
    def frames(self) -> Mapping[str, TfFrame]:
        """TF frames by name: all of /tf_static, and of /tf what is needed."""
        return self._tree.frames

    def is_shown(self, topic: str) -> bool:
        """Return whether a topic is subscribed."""
        return self._chosen.get(topic, self.topics.get(topic) in drawn_messages.AT_ONCE)

    def show(self, topic: str, shown: bool) -> None:
        """Subscribe to a topic, now or when it appears, or end the subscription."""
        self._chosen[topic] = shown
        later(self._endpoints.node, self._match)

    def shapes(self) -> Mapping[str, Sequence[Shape]]:
        """Return the newest shapes of each subscribed topic."""
        return {**self._shapes, **self._servers.shapes}

    def joint_paths(self) -> Mapping[str, JointPath]:
        """Return the newest trajectory of each subscribed topic, until its end."""
        return dict(self._paths)

    def tick(self, now: float) -> None:
        """Search topics and deserialize messages that are due; `now` is monotonic [s]."""
        if now >= self._search_at:
            self._search_at = now + _GRAPH_S
            self._search()
        time = self._now()
        self._tree.tick(now, time)
        was_reset, self._time = time < self._time, time
        for topic, path in list(self._paths.items()):
            if was_reset or time > path.end:
                del self._paths[topic]
        for topic, drawn in list(self._drawn.items()):
            if was_reset:
                for key in [key for key, (_, end) in drawn.markers.items() if end < inf]:
                    drawn.drop(key)
            if now >= drawn.due_at:
                began = monotonic()
                try:
                    self._update(topic, drawn, time)
                except Exception:  # a message that is not what its type promises
                    _LOG.exception("messages of '%s' cannot be drawn; it is switched off", topic)
                    self._chosen[topic] = False
                    self._match()
                drawn.due_at = now + max(_PERIOD_S, _REST * (monotonic() - began))

    def _search(self) -> None:
        node = self._endpoints.node
        topics = {
            name: next((kind for kind in types if _is_drawn(name, kind)), "")
            for name, types in node.get_topic_names_and_types()
        }
        # A publisher of trajectories may appear, publish one, and vanish.
        self.topics = {
            name: kind
            for name, kind in sorted(topics.items())
            if kind and (node.count_publishers(name) or self._has_others(name, kind))
        }
        self._match()

    def _has_others(self, name: str, kind: str) -> bool:
        subscribers = self._endpoints.node.count_subscribers(name)
        return kind == drawn_messages.JOINT_PATH and subscribers > (name in self._drawn)

    def _match(self) -> None:
        """Open and close subscriptions, also when the type or the QoS of a topic has changed."""
        shown = {topic: kind for topic, kind in self.topics.items() if self.is_shown(topic)}
        self._servers.follow(
            [topic for topic, kind in shown.items() if kind == drawn_messages.INTERACTIVE]
        )
        wanted = {
            topic: (kind, self._qos(topic, kind))
            for topic, kind in shown.items()
            if kind != drawn_messages.INTERACTIVE
        }
        for topic, drawn in list(self._drawn.items()):
            if wanted.get(topic) != (drawn.kind, drawn.qos):
                self._endpoints.close(self._drawn.pop(topic).subscription)
                self._shapes.pop(topic, None)
                self._paths.pop(topic, None)
        for topic, (kind, qos) in wanted.items():
            if topic not in self._drawn:
                waiting: deque[bytes] = deque(maxlen=qos.depth)

                def receive(serialized: bytes, waiting: deque[bytes] = waiting) -> None:
                    waiting.append(serialized)

                subscription = self._endpoints.subscription(
                    drawn_messages.TYPES[kind], topic, receive, qos, raw=True
                )
                self._drawn[topic] = _Drawn(kind, qos, subscription, waiting)

    def _qos(self, topic: str, kind: str) -> QoSProfile:
        """Return that with which all publishers are received, and their last messages if kept."""
        if kind == drawn_messages.JOINT_PATH:
            return _ANY_PUBLISHER
        offers = self._endpoints.node.get_publishers_info_by_topic(topic)
        depth = _MESSAGE_DEPTH if kind in drawn_messages.MARKERS else 1
        return subscription_qos([offer.qos_profile for offer in offers], depth)

    def _update(self, topic: str, drawn: _Drawn, time: float) -> None:
        kind, waiting = drawn_messages.TYPES[drawn.kind], drawn.waiting
        if drawn.kind not in drawn_messages.MARKERS:
            if waiting:
                message = deserialize_message(waiting.pop(), kind)
                waiting.clear()
                if drawn.kind != drawn_messages.JOINT_PATH:
                    self._shapes[topic] = drawn_messages.shapes_of(drawn.kind, message)
                elif (path := drawn_messages.joint_path(message, time)) is not None:
                    self._paths[topic] = path
                else:  # an empty one stops the robot
                    self._paths.pop(topic, None)
            return
        for _ in _in_time(waiting):
            for marker in drawn_messages.markers_of(deserialize_message(waiting.popleft(), kind)):
                _change(drawn, marker, time)
        for _ in _in_time(drawn.changed):
            key = next(iter(drawn.changed))
            marker = drawn.changed.pop(key)
            drawn.markers[key] = drawn_messages.marker_shapes(marker), drawn.markers[key][1]
        for key, (_, end) in list(drawn.markers.items()):
            if time > end:
                drawn.drop(key)
        every = (shape for shapes, _ in drawn.markers.values() for shape in shapes)
        shapes, before = list(islice(every, MOST_DRAWN + 1)), self._shapes.get(topic, ())
        if len(shapes) != len(before) or any(map(is_not, shapes, before)):
            self._shapes[topic] = shapes  # else the same object: what is drawn for it is kept


def _is_drawn(topic: str, kind: str) -> bool:
    if kind == drawn_messages.INTERACTIVE:
        return topic.endswith(UPDATES)
    return kind in drawn_messages.TYPES


def _in_time(items: Sized) -> Iterator[None]:
    """Yield once for each item that can be taken now: while there is time, but at least once."""
    end = monotonic() + _BUDGET_S
    while items:
        yield
        if monotonic() >= end:
            return


def _change(drawn: _Drawn, marker: Marker, time: float) -> None:
    """Add, change or delete the marker of a message."""
    key = marker.ns, marker.id
    if marker.action == Marker.DELETEALL:
        drawn.markers.clear()
        drawn.changed.clear()
    elif marker.action == Marker.DELETE:
        drawn.drop(key)
    elif marker.action == Marker.ADD:
        lifetime = marker.lifetime.sec + 1e-9 * marker.lifetime.nanosec
        before, _ = drawn.markers.get(key, ((), 0.0))
        drawn.markers[key] = before, time + lifetime if lifetime > 0.0 else inf
        drawn.changed[key] = marker
        if len(drawn.markers) > _MOST_MARKERS:
            drawn.drop(next(iter(drawn.markers)))
