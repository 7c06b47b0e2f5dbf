"""TF frames in which messages are drawn."""

from collections import ChainMap, deque
from collections.abc import Collection, Mapping

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.message_shapes import TfFrame

_STATIC = QoSProfile(
    depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
_DEPTH, _MOST = 100, 100
"""Messages of /tf that wait, and frames that are needed."""


class FrameTree:
    """Frames of /tf_static, and those of /tf that are needed.

    A simulator may publish many frames 1000 times a second, so /tf is subscribed only while a frame
    is needed, and only messages that contain its name are deserialized.

    Attributes:
        frames: Frames by name.
    """

    def __init__(self, endpoints: Endpoints) -> None:
        """Subscribe with the node of `endpoints`."""
        self._endpoints = endpoints
        self._static: dict[str, TfFrame] = {}
        self._moving: dict[str, TfFrame] = {}
        self.frames: Mapping[str, TfFrame] = ChainMap(self._moving, self._static)
        self._needed: frozenset[str] = frozenset()
        self._marks: tuple[bytes, ...] = ()
        self._waiting: deque[bytes] = deque(maxlen=_DEPTH)
        self._subscription: Subscription | None = None
        endpoints.subscription(TFMessage, "/tf_static", self._receive_static, _STATIC)

    def need(self, names: Collection[str]) -> None:
        """Set the names of the needed frames of /tf, from any thread."""
        self._needed = frozenset(sorted(names)[:_MOST])

    def tick(self) -> None:
        """Open or close the subscription, and read the newest transforms."""
        needed = self._needed - self._static.keys()
        self._marks = tuple(name.encode() + b"\0" for name in needed)
        if needed and self._subscription is None:
            self._subscription = self._endpoints.subscription(
                TFMessage, "/tf", self._receive, QoSProfile(depth=_DEPTH), raw=True
            )
        if not needed and self._subscription is not None:
            self._endpoints.close(self._subscription)
            self._subscription = None
        for _ in range(len(self._waiting)):
            message = deserialize_message(self._waiting.popleft(), TFMessage)
            _read(message, self._moving, needed)
        for name in self._moving.keys() - needed:
            del self._moving[name]

    def _receive(self, serialized: bytes) -> None:
        if any(mark in serialized for mark in self._marks):
            self._waiting.append(serialized)

    def _receive_static(self, message: TFMessage) -> None:
        _read(message, self._static, None)


def _read(message: TFMessage, frames: dict[str, TfFrame], needed: Collection[str] | None) -> None:
    """Add the needed transforms of a message, or all, without invalid ones."""
    for it in message.transforms:
        if needed is not None and it.child_frame_id not in needed:
            continue
        p, q = it.transform.translation, it.transform.rotation
        pose = Pose(position=np.array([p.x, p.y, p.z]), quat_wxyz=np.array([q.w, q.x, q.y, q.z]))
        try:
            pose.check(it.child_frame_id)
        except UserInputError:
            continue
        frames[it.child_frame_id] = TfFrame(it.header.frame_id, pose.position, pose.quat_wxyz)
