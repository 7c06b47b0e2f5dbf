"""TF frames in which messages are drawn."""

from collections.abc import Collection, Mapping
from math import inf
from typing import Literal

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from tf2_msgs.msg import TFMessage

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.message_shapes import TfFrame

_STATIC = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
_DEPTH, _MOST = 100, 100
"""Depth of the queue of /tf, and most frames that are needed, and messages that wait."""
_MOST_MOVING = 1000
"""Frames of /tf that are kept."""
_POSE, _NAME_END = 56, 16
"""Sizes of a serialized pose, and of the part of a name before it that is compared [bytes]."""
_KEPT_S = 5.0
"""Wall time for which a frame of /tf is kept after its last message [s]."""


class FrameTree:
    """Frames of /tf_static, and those of /tf that are needed or whose parent is.

    A simulator may publish many frames 1000 times a second, so /tf is subscribed only while a frame
    is needed, or all are, and only messages that contain its name are deserialized: the newest of
    those that begin and end with the same frames. A frame of /tf that is not received for some
    seconds is dropped; a pause of the simulation does not count, since its nodes may publish
    nothing then.

    Attributes:
        frames: Frames by name, as of the last tick.
    """

    def __init__(self, endpoints: Endpoints) -> None:
        """Subscribe with the node of `endpoints`."""
        self._endpoints = endpoints
        self._static: dict[str, TfFrame] = {}
        self._moving: dict[str, TfFrame] = {}
        self.frames: Mapping[str, TfFrame] = {}  # replaced, since another thread reads it
        self._needed: frozenset[str] | None = frozenset()
        self._marks: tuple[bytes, ...] = ()
        self._received_at: dict[str, float] = {}  # by `_running_s`
        self._running_s = 0.0  # wall time while the simulated time changed
        self._last = 0.0, 0.0  # wall time and simulated time of the last tick
        self._waiting: dict[bytes, bytes] = {}  # by the first and last frames of a message
        self._subscription: Subscription | None = None
        endpoints.subscription(TFMessage, "/tf_static", self._receive_static, _STATIC)

    def need(self, names: Collection[str] | None) -> None:
        """Set the names of the needed frames of /tf, None for all, from any thread."""
        self._needed = None if names is None else frozenset(sorted(names)[:_MOST])

    def tick(self, now: float, time: float) -> None:
        """Open or close the subscription, read the newest transforms, and drop old ones.

        Args:
            now: Monotonic time [s].
            time: Simulated time [s].
        """
        if time != self._last[1]:
            self._running_s += now - self._last[0]
        self._last = now, time
        needed = self._needed
        if needed is None:
            self._marks = (b"",)
        else:
            needed -= self._static.keys()
            self._marks = tuple(name.encode() + b"\0" for name in needed)
        if self._marks and self._subscription is None:
            self._subscription = self._endpoints.subscription(
                TFMessage, "/tf", self._receive, QoSProfile(depth=_DEPTH), raw=True
            )
        if not self._marks and self._subscription is not None:
            self._endpoints.close(self._subscription)
            self._subscription = None
        waiting, self._waiting = self._waiting, {}
        for serialized in waiting.values():
            message = deserialize_message(serialized, TFMessage)
            for name in _read(message, self._moving, needed, _MOST_MOVING):
                self._received_at[name] = self._running_s
        for name in list(self._moving):
            is_needed = needed is None or name in needed or self._moving[name].parent in needed
            if not is_needed or self._running_s - self._received_at[name] > _KEPT_S:
                del self._moving[name], self._received_at[name]
        self.frames = {**self._static, **self._moving}

    def _receive(self, serialized: bytes) -> None:
        if any(mark in serialized for mark in self._marks):
            key = _first_and_last(serialized)
            if key in self._waiting or len(self._waiting) < _MOST:
                self._waiting[key] = serialized

    def _receive_static(self, message: TFMessage) -> None:
        _read(message, self._static, None, inf)


def _first_and_last(serialized: bytes) -> bytes:
    """Return the number of transforms, the names of the first one, and the end of the last name."""
    order: Literal["little", "big"] = "little" if serialized[1:2] == b"\1" else "big"
    parent = 20  # after the encoding, the number, and the stamp and length of the first one
    child = parent + int.from_bytes(serialized[16:parent], order)
    child += -child % 4
    end = child + 4 + int.from_bytes(serialized[child : child + 4], order)
    # The last name precedes seven numbers of the last transform.
    return serialized[4:8] + serialized[parent:end] + serialized[-_POSE - _NAME_END : -_POSE]


def _read(
    message: TFMessage, frames: dict[str, TfFrame], needed: frozenset[str] | None, most: float
) -> list[str]:
    """Add valid transforms from or to needed frames, or all, to at most `most` frames.

    Returns:
        The names of the added frames.
    """
    added = []
    for it in message.transforms:
        if needed is not None and needed.isdisjoint((it.child_frame_id, it.header.frame_id)):
            continue
        p, q = it.transform.translation, it.transform.rotation
        pose = Pose(position=np.array([p.x, p.y, p.z]), quat_wxyz=np.array([q.w, q.x, q.y, q.z]))
        try:
            pose.check(it.child_frame_id)
        except UserInputError:
            continue
        if it.child_frame_id not in frames and len(frames) >= most:
            continue
        frames[it.child_frame_id] = TfFrame(it.header.frame_id, pose.position, pose.quat_wxyz)
        added.append(it.child_frame_id)
    return added
