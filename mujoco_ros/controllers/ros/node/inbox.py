"""The newest messages of the topics of a robot, and poses of objects from TF."""

import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from tf2_msgs.msg import TFMessage

from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.runtime.ticks import NANOSECONDS
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.conversions import nanoseconds
from mujoco_ros.wire.names import WORLD
from mujoco_ros.wire.qos import LATCHED, TF

T = TypeVar("T")


_STAMP = {0: struct.Struct(">iI"), 1: struct.Struct("<iI")}
"""Byte order by the second byte of the CDR encapsulation header."""
_HEADER_SIZE = 4
DISCOVERY_S = 2.0
"""Wall time in which a publisher surely discovers a new subscription."""


class StampedMessage:
    """A serialized message with a `stamp` [ns]: to deserialize all would be the main cost."""

    def __init__(self, kind: Any, data: bytes) -> None:
        seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data, _HEADER_SIZE)
        self.stamp = int(seconds * NANOSECONDS + nanoseconds)
        self._kind, self._data = kind, data

    @cached_property
    def message(self) -> Any:
        """The deserialized message."""
        return deserialize_message(self._data, self._kind)


class Inbox:
    """Keeps the newest message of a topic; a longer queue than 1 would delay slow machines."""

    def __init__(
        self,
        endpoints: Endpoints,
        kind: Any,
        topic: str,
        qos: QoSProfile,
        received: Callable[[], object] | None = None,
        *,
        polled: bool = False,
    ) -> None:
        """Subscribe; the depth of `qos` is ignored. If `polled`, messages arrive in `poll` only."""
        self.topic = topic
        self.newest: StampedMessage | None = None
        self.count = 0
        self._kind, self._received, self._polled = kind, received, polled
        self._endpoints = endpoints
        self._qos = QoSProfile(depth=1, reliability=qos.reliability, durability=qos.durability)
        self._subscription = self._subscribe()

    @property
    def stamp(self) -> int | None:
        """Stamp of the newest message [ns]; None before the first."""
        return None if self.newest is None else self.newest.stamp

    @property
    def message(self) -> Any:
        """The newest message; LookupError before the first."""
        if self.newest is None:
            raise LookupError(f"no message on '{self.topic}' yet")
        return self.newest.message

    def poll(self) -> None:
        """Take the newest message that has not been taken, if this inbox is polled."""
        if not self._polled:
            return
        with self._subscription.handle:
            taken = self._subscription.handle.take_message(self._kind, True)
        if taken is not None:
            self._receive(taken[0])

    def renew(self) -> None:
        """Open the subscription again; the old one is closed when the new one is discovered."""
        outdated, self._subscription = self._subscription, self._subscribe()
        self._endpoints.later(DISCOVERY_S, lambda: self._endpoints.close(outdated))

    def close(self) -> None:
        """Close the subscription."""
        self._endpoints.close(self._subscription)

    def _subscribe(self) -> Subscription:
        receive = None if self._polled else self._receive
        return self._endpoints.subscription(self._kind, self.topic, receive, self._qos, raw=True)

    def _receive(self, data: bytes) -> None:
        self.newest = StampedMessage(self._kind, data)
        self.count += 1
        if self._received is not None:
            self._received()


class SensorReadings(Mapping[str, T], Generic[T]):
    """Readings of some sensors at one instant, by name; later messages do not change them."""

    def __init__(self, messages: Mapping[str, StampedMessage], read: Callable[[Any], T]) -> None:
        self._messages, self._read = messages, read
        self._readings: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._readings:
            self._readings[name] = self._read(self._messages[name].message)
        return self._readings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)


_TF = "/tf"
_MAX_DEPTH = 100  # a longer chain of frames from an object to the world is a loop
_MAX_EXTRAPOLATION_S = 0.1


class _Frame(NamedTuple):
    """Pose of a frame in its parent at a stamp [ns], and its velocity in the parent [m/s]."""

    parent: str
    pose: Pose
    stamp: int
    velocity: np.ndarray

    def at(self, stamp: int) -> Pose:
        """Return the pose extrapolated to a stamp [ns]: joint states are newer than TF."""
        if stamp <= self.stamp or not self.velocity.any():
            return self.pose  # bit by bit
        ahead = min(1e-9 * (stamp - self.stamp), _MAX_EXTRAPOLATION_S)
        position = self.pose.position + ahead * self.velocity
        return Pose(position=position, quat_wxyz=self.pose.quat_wxyz)


class ObjectFrames:
    """Subscribes to TF and computes poses of objects in ``world``."""

    def __init__(
        self,
        endpoints: Endpoints,
        objects: Collection[str],
        received: Callable[[], object] | None = None,
    ) -> None:
        """Subscribe to the frames of objects; `received` is called after each message."""
        self._objects, self._received = tuple(objects), received
        self._frames: dict[str, _Frame] = {}
        self._endpoints = endpoints
        self._fixed: set[str] = set()
        self._subscriptions = [
            endpoints.subscription(
                TFMessage, topic, partial(self.receive, is_static=is_static), qos
            )
            for topic, is_static, qos in ((_TF, False, TF), ("/tf_static", True, LATCHED))
            if objects
        ]

    def drain(self) -> None:
        """Process all messages in the queues, which are long: all publishers of TF are needed."""
        for subscription in self._subscriptions:
            is_static = subscription is not self._subscriptions[0]
            with subscription.handle:
                while (taken := subscription.handle.take_message(TFMessage, False)) is not None:
                    self._update(taken[0], is_static=is_static)

    def renew(self) -> None:
        """Open the subscription of /tf again, as `Inbox.renew` does."""
        endpoints, outdated = self._endpoints, self._subscriptions[0]
        self._subscriptions[0] = endpoints.subscription(TFMessage, _TF, self.receive, TF)
        endpoints.later(DISCOVERY_S, lambda: endpoints.close(outdated))

    def forget(self, stamp: int) -> None:
        """Remove the frames of all objects, unless they have a stamp [ns]."""
        for name in self._objects:
            if self.stamp(name) != stamp:
                self._frames.pop(name, None)

    def is_known(self, name: str) -> bool:
        """Return whether the pose of an object is known."""
        return self._pose(name, 0) is not None

    def stamp(self, name: str) -> int | None:
        """Return the stamp of an object's newest transform [ns]; None before the first."""
        return self._frames[name].stamp if name in self._frames else None

    def poses(self, stamp: int) -> Mapping[str, Pose]:
        """Return the known poses of objects in ``world`` at a stamp [ns]."""
        found = {name: self._pose(name, stamp) for name in self._objects}
        return {name: pose for name, pose in found.items() if pose is not None}

    def times(self, time: float) -> Mapping[str, float]:
        """Return the times of known poses [s]: `time` if extrapolated or of ``/tf_static``."""
        return {
            name: time
            if name in self._fixed
            else min(time, self._frames[name].stamp / NANOSECONDS + _MAX_EXTRAPOLATION_S)
            for name in self._objects
            if name in self._frames
        }

    def receive(self, message: TFMessage, *, is_static: bool = False) -> None:
        """Process one message; of ``/tf_static`` if `is_static`."""
        self._update(message, is_static=is_static)
        if self._received is not None:
            self._received()

    def _update(self, message: TFMessage, *, is_static: bool) -> None:
        for transform in message.transforms:
            name = transform.child_frame_id
            if is_static:
                self._fixed.add(name)
            self._frames[name] = _frame(transform, self._frames.get(name))

    def _pose(self, name: str, stamp: int) -> Pose | None:
        pose: Pose | None = None
        for _ in range(_MAX_DEPTH):
            if name not in self._frames:
                return None
            frame = self._frames[name]
            pose = frame.at(stamp) if pose is None else frame.at(stamp) @ pose
            name = frame.parent
            if name == WORLD:
                return pose
        return None


def _frame(message: TransformStamped, previous: _Frame | None) -> _Frame:
    translation, rotation = message.transform.translation, message.transform.rotation
    position = np.array([translation.x, translation.y, translation.z])
    stamp = nanoseconds(message.header.stamp)
    parent, velocity = message.header.frame_id, np.zeros(3)
    if previous is not None and previous.parent == parent:
        elapsed = 1e-9 * (stamp - previous.stamp)
        if 0.0 < elapsed < _MAX_EXTRAPOLATION_S:
            velocity = (position - previous.pose.position) / elapsed
    quat_wxyz = np.array([rotation.w, rotation.x, rotation.y, rotation.z])
    return _Frame(parent, Pose(position=position, quat_wxyz=quat_wxyz), stamp, velocity)
