"""Poses of objects from TF."""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.publishing.template_publisher import nanoseconds
from mujoco_ros.bridge.publishing.topics import LATCHED, TF, WORLD
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.controllers.interface.observation import Pose

_MAX_DEPTH = 100
"""A longer chain of frames from an object to the world is a loop."""
_MAX_EXTRAPOLATION_S = 0.1


class _Frame(NamedTuple):
    """Pose of a frame in its parent at a stamp [ns], and its velocity in the parent [m/s]."""

    parent: str
    pose: Pose
    stamp: int
    velocity: np.ndarray

    def at(self, time: float) -> Pose:
        """Return the pose extrapolated to a time [s].

        Joint states have a higher rate than TF. Without extrapolation a carried object would
        appear to slide in the hand.
        """
        ahead = min(max(time - 1e-9 * self.stamp, 0.0), _MAX_EXTRAPOLATION_S)
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
        self._subscriptions = [
            endpoints.subscription(TFMessage, topic, self.take, qos)
            for topic, qos in (("/tf", TF), ("/tf_static", LATCHED))
            if objects
        ]

    def drain(self) -> None:
        """Process all messages in the queues.

        The queues are long, because all publishers of TF are needed; on a slow machine their first
        messages are old.
        """
        for subscription in self._subscriptions:
            with subscription.handle:
                while (taken := subscription.handle.take_message(TFMessage, False)) is not None:
                    self._update(taken[0])

    def forget(self) -> None:
        """Remove the frames of all objects."""
        for name in self._objects:
            self._frames.pop(name, None)

    def is_known(self, name: str) -> bool:
        """Return whether the pose of an object is known."""
        return self._pose(name, 0.0) is not None

    def stamp(self, name: str) -> int:
        """Return the stamp of an object's newest transform [ns]; 0 before the first."""
        return self._frames[name].stamp if name in self._frames else 0

    def poses(self, time: float) -> Mapping[str, Pose]:
        """Return the known poses of objects in ``world`` at a time [s]."""
        found = {name: self._pose(name, time) for name in self._objects}
        return {name: pose for name, pose in found.items() if pose is not None}

    def take(self, message: TFMessage) -> None:
        """Process one message."""
        self._update(message)
        if self._received is not None:
            self._received()

    def _update(self, message: TFMessage) -> None:
        for transform in message.transforms:
            name = transform.child_frame_id
            self._frames[name] = _frame(transform, self._frames.get(name))

    def _pose(self, name: str, time: float) -> Pose | None:
        pose: Pose | None = None
        for _ in range(_MAX_DEPTH):
            if name not in self._frames:
                return None
            frame = self._frames[name]
            pose = frame.at(time) if pose is None else frame.at(time) @ pose
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
