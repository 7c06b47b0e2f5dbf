"""Where objects are, by TF."""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.publishing.template_publisher import nanoseconds
from mujoco_ros.bridge.publishing.topics import LATCHED, TF, WORLD
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.controllers.interface.observation import Pose

_DEEPEST = 100
"""So many frames may lie between an object and the world; more is a ring."""
_AHEAD_S = 0.1
"""Nothing is thought to go on as it moved for longer than this."""


class _Seen(NamedTuple):
    """A frame in its parent at a stamp [ns], and how fast it moved there [m/s]."""

    parent: str
    pose: Pose
    stamp: int
    velocity: np.ndarray

    def at(self, time: float) -> Pose:
        """Return where it should be a little later.

        Robots tell of their joints more often than anybody tells of objects. One that a hand
        carries would seem to slide in it otherwise.
        """
        ahead = min(max(time - 1e-9 * self.stamp, 0.0), _AHEAD_S)
        position = self.pose.position + ahead * self.velocity
        return Pose(position=position, quat_wxyz=self.pose.quat_wxyz)


class ObjectFrames:
    """Follows TF as far as objects hang on the world, whoever tells of them."""

    def __init__(
        self,
        endpoints: Endpoints,
        objects: Collection[str],
        heard: Callable[[], object] = lambda: None,
    ) -> None:
        """Follow the frames of objects; `heard` is called after each message."""
        self._objects, self._heard = tuple(objects), heard
        self._seen: dict[str, _Seen] = {}
        self._subscriptions = [
            endpoints.subscription(TFMessage, topic, self.take, qos)
            for topic, qos in (("/tf", TF), ("/tf_static", LATCHED))
            if objects
        ]

    def catch_up(self) -> None:
        """Take what waits in queues, which are long: many tell of frames, and each message counts.

        On a busy machine what is at their front is from long ago.
        """
        for subscription in self._subscriptions:
            with subscription.handle:
                while (taken := subscription.handle.take_message(TFMessage, False)) is not None:
                    self._note(taken[0])

    def forget(self) -> None:
        """Forget where objects were."""
        for name in self._objects:
            self._seen.pop(name, None)

    def knows(self, name: str) -> bool:
        """Return whether it is known where an object is."""
        return self._pose(name, 0.0) is not None

    def stamp(self, name: str) -> int:
        """Return the stamp of an object's newest transform [ns]; 0 before the first."""
        return self._seen[name].stamp if name in self._seen else 0

    def poses(self, time: float) -> Mapping[str, Pose]:
        """Return where the objects are in the world at a time [s], as far as that is known."""
        found = {name: self._pose(name, time) for name in self._objects}
        return {name: pose for name, pose in found.items() if pose is not None}

    def take(self, message: TFMessage) -> None:
        """Take notice of transforms."""
        self._note(message)
        self._heard()

    def _note(self, message: TFMessage) -> None:
        for transform in message.transforms:
            self._seen[transform.child_frame_id] = _seen(
                transform, self._seen.get(transform.child_frame_id)
            )

    def _pose(self, frame: str, time: float) -> Pose | None:
        pose: Pose | None = None
        for _ in range(_DEEPEST):
            if frame not in self._seen:
                return None
            seen = self._seen[frame]
            pose = seen.at(time) if pose is None else seen.at(time) @ pose
            frame = seen.parent
            if frame == WORLD:
                return pose
        return None


def _seen(message: TransformStamped, before: _Seen | None) -> _Seen:
    at, turned = message.transform.translation, message.transform.rotation
    position, stamp = np.array([at.x, at.y, at.z]), nanoseconds(message.header.stamp)
    parent, velocity = message.header.frame_id, np.zeros(3)
    if before is not None and before.parent == parent:
        elapsed = 1e-9 * (stamp - before.stamp)
        if 0.0 < elapsed < _AHEAD_S:
            velocity = (position - before.pose.position) / elapsed
    quat_wxyz = np.array([turned.w, turned.x, turned.y, turned.z])
    return _Seen(parent, Pose(position=position, quat_wxyz=quat_wxyz), stamp, velocity)
