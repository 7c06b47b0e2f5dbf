"""Acting on what is simulated: joint references, pulls, mocap bodies and target frames."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import Point, Pose, PoseStamped, Quaternion
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.bridge.perturbation.pull_server import MOVE, PULL, TURN
from mujoco_ros.bridge.publishing.topics import LATCHED, RELIABLE, WORLD
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.control.events import CommandSource
from mujoco_ros.model.naming import topic_token
from mujoco_ros.sim.perturbation.pulls import Pull

REPEAT_S = 0.05
"""So often a pull is told: the simulator gives it up without."""


class PerturbationClient:
    """Publishes commands; all of it belongs to the executor's thread."""

    def __init__(self, endpoints: Endpoints) -> None:
        """Open no topic yet; they are opened as they are needed."""
        self._endpoints = endpoints
        self._open: dict[str, Publisher] = {}
        self._held: tuple[str, Pull] | None = None
        self._repeat_at = 0.0

    @property
    def holds(self) -> bool:
        """Whether anything is pulled."""
        return self._held is not None

    def tick(self, now: float) -> None:
        """Tell what is pulled where, if it is time to; `now` is monotonic [s]."""
        if self._held is not None and now >= self._repeat_at:
            self._repeat_at = now + REPEAT_S
            self._tell(*self._held, InteractiveMarkerFeedback.POSE_UPDATE)

    def pull(self, frame: str, pull: Pull) -> None:
        """Pull at a frame, and at no other."""
        if self._held is None or self._held[0] != frame:
            self.let_go()
            self._tell(frame, pull, InteractiveMarkerFeedback.MOUSE_DOWN)
        self._held = (frame, pull)

    def let_go(self) -> None:
        """Pull at nothing any more."""
        if self._held is not None:
            self._tell(*self._held, InteractiveMarkerFeedback.MOUSE_UP)
            self._held = None

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        """Send references."""
        message = JointState(
            name=list(positions), position=[float(value) for value in positions.values()]
        )
        self._publisher(
            JointState, within(namespace, CommandSource.JOINT_COMMANDS), RELIABLE
        ).publish(message)

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> None:
        """Put a mocap body somewhere."""
        topic = within(namespace, "mocap", topic_token(name), "pose")
        self._publisher(PoseStamped, topic, RELIABLE).publish(_stamped(position, quat_wxyz, None))

    def publish_target(
        self, name: str, position: np.ndarray, quat_wxyz: np.ndarray, stamp: Any
    ) -> None:
        """Tell where a target frame is."""
        publisher = self._publisher(PoseStamped, target_topic(name), LATCHED)
        publisher.publish(_stamped(position, quat_wxyz, stamp))

    def remove_target(self, name: str) -> None:
        """Tell no more of a target frame."""
        publisher = self._open.pop(target_topic(name), None)
        if publisher is not None:
            self._endpoints.close(publisher)

    def _tell(self, frame: str, pull: Pull, event: int) -> None:
        lever = np.zeros(3)
        mujoco.mju_rotVecQuat(lever, pull.point, pull.quat_wxyz)
        message = InteractiveMarkerFeedback(
            marker_name=frame, event_type=event, mouse_point_valid=True
        )
        message.header.frame_id = WORLD
        message.control_name = TURN if pull.turns else MOVE
        message.pose = _pose(pull.position - lever, pull.quat_wxyz)
        message.mouse_point = _point(pull.position)
        self._publisher(InteractiveMarkerFeedback, PULL, RELIABLE).publish(message)

    def _publisher(self, kind: Any, topic: str, qos: QoSProfile) -> Publisher:
        if topic not in self._open:
            self._open[topic] = self._endpoints.publisher(kind, topic, qos)
        return self._open[topic]


def target_topic(name: str) -> str:
    """Return the topic of a target frame."""
    return within("target", topic_token(name), "pose")


def _stamped(position: np.ndarray, quat_wxyz: np.ndarray, stamp: Any) -> PoseStamped:
    message = PoseStamped(pose=_pose(position, quat_wxyz))
    message.header.frame_id = WORLD
    if stamp is not None:
        message.header.stamp = stamp
    return message


def _pose(position: np.ndarray, quat_wxyz: np.ndarray) -> Pose:
    w, x, y, z = (float(number) for number in quat_wxyz)
    return Pose(position=_point(position), orientation=Quaternion(x=x, y=y, z=z, w=w))


def _point(position: np.ndarray) -> Point:
    x, y, z = (float(number) for number in position)
    return Point(x=x, y=y, z=z)
