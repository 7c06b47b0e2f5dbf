"""Acting on what is simulated: joint references, pushes, mocap bodies and target frames."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, PoseStamped, Quaternion, Vector3, WrenchStamped
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from mujoco_ros.control.events import Source
from mujoco_ros.model.naming import topic_token
from mujoco_ros.ros.acting.wrench_server import HELD_WRENCH
from mujoco_ros.ros.endpoints import Endpoints
from mujoco_ros.ros.names import within
from mujoco_ros.ros.topics import LATCHED, RELIABLE, WORLD
from mujoco_ros.ros.viewer.simulator_parameters import SimulatorParameters
from mujoco_ros.viewer.link import Push

REPEAT_S = 0.05
"""So often a push is told while it is held: the simulator gives it up without."""


class Acting:
    """Publishes commands; all of it belongs to the executor's thread."""

    def __init__(self, endpoints: Endpoints, parameters: SimulatorParameters) -> None:
        """Open no topic yet.

        Args:
            endpoints: Opens topics, as they are needed.
            parameters: Those of the simulator: they say in which axes it wants wrenches.
        """
        self._endpoints, self._parameters = endpoints, parameters
        self._open: dict[str, Publisher] = {}
        self._held: dict[str, Push] = {}
        self._repeat_at = 0.0

    @property
    def holds(self) -> bool:
        """Whether anything is pushed."""
        return bool(self._held)

    def tick(self, now: float) -> None:
        """Tell pushes again, if it is time to; `now` is monotonic [s]."""
        if self._held and now >= self._repeat_at:
            self._repeat_at = now + REPEAT_S
            for push in self._held.values():
                self._tell(push)

    def push(self, push: Push) -> None:
        """Let a wrench act on its frame."""
        fresh = push.frame not in self._held
        self._held[push.frame] = push
        if fresh:
            self._tell(push)

    def release(self, frame: str) -> None:
        """End the push of a frame; all, if it is empty."""
        for name in [name for name in self._held if frame in ("", name)]:
            del self._held[name]
            self._publish_wrench(name, np.zeros(3), np.zeros(3))

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> None:
        """Send references."""
        message = JointState(
            name=list(positions), position=[float(value) for value in positions.values()]
        )
        self._publisher(JointState, within(namespace, Source.JOINT_COMMANDS), RELIABLE).publish(
            message
        )

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> None:
        """Put a mocap body somewhere."""
        topic = within(namespace, "mocap", topic_token(name), "pose")
        self._publisher(PoseStamped, topic, RELIABLE).publish(_pose(position, quat_wxyz, None))

    def publish_target(
        self, name: str, position: np.ndarray, quat_wxyz: np.ndarray, stamp: Any
    ) -> None:
        """Tell where a target frame is."""
        publisher = self._publisher(PoseStamped, target_topic(name), LATCHED)
        publisher.publish(_pose(position, quat_wxyz, stamp))

    def remove_target(self, name: str) -> None:
        """Tell no more of a target frame."""
        publisher = self._open.pop(target_topic(name), None)
        if publisher is not None:
            self._endpoints.close(publisher)

    def _tell(self, push: Push) -> None:
        in_world = self._parameters.value("external_wrench_axes", "frame") == "world"
        axes = np.eye(3) if in_world else push.rotation.reshape(3, 3)
        self._publish_wrench(push.frame, axes.T @ push.force, axes.T @ push.torque)

    def _publish_wrench(self, frame: str, force: np.ndarray, torque: np.ndarray) -> None:
        message = WrenchStamped()
        message.header.frame_id = frame
        message.wrench.force, message.wrench.torque = _vector(force), _vector(torque)
        self._publisher(WrenchStamped, HELD_WRENCH, RELIABLE).publish(message)

    def _publisher(self, kind: Any, topic: str, qos: QoSProfile) -> Publisher:
        if topic not in self._open:
            self._open[topic] = self._endpoints.publisher(kind, topic, qos)
        return self._open[topic]


def target_topic(name: str) -> str:
    """Return the topic of a target frame."""
    return within("target", topic_token(name), "pose")


def _vector(numbers: np.ndarray) -> Vector3:
    x, y, z = (float(number) for number in numbers)
    return Vector3(x=x, y=y, z=z)


def _pose(position: np.ndarray, quat_wxyz: np.ndarray, stamp: Any) -> PoseStamped:
    message = PoseStamped()
    message.header.frame_id = WORLD
    if stamp is not None:
        message.header.stamp = stamp
    x, y, z = (float(number) for number in position)
    message.pose.position = Point(x=x, y=y, z=z)
    w, x, y, z = (float(number) for number in quat_wxyz)
    message.pose.orientation = Quaternion(x=x, y=y, z=z, w=w)
    return message
