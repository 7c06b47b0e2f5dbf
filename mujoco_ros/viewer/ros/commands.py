"""Commands to the simulator: joint references, pulls, mocap bodies and target frames."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any

import mujoco
import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.pull import Pull
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.viewer.ros.shell_commands import topic_pub
from mujoco_ros.viewer.ros.state_setter import StateSetter
from mujoco_ros.wire.conversions import pose_message, stamp
from mujoco_ros.wire.names import MOVE, PULL, TURN, WORLD
from mujoco_ros.wire.qos import LATCHED, RELIABLE

REPEAT_S = 0.05
"""Period of repeated messages: feedback of a pull, velocities; what they move stops without."""
_PRESS_S = 1.0
"""Messages of a slider or handle belong to one press without a longer pause between them [s]."""


class CommandPublisher:
    """Publishes commands from the executor's thread; any thread may call the public methods."""

    def __init__(
        self,
        requests: Requests,
        endpoints: Endpoints,
        now: Callable[[], float],
        setter: StateSetter,
    ) -> None:
        """Open each topic with its first command.

        Args:
            requests: Reports commands.
            endpoints: Opens topics.
            now: Returns the simulated time of target poses [s].
            setter: Sets joints and poses.
        """
        self.set_joints, self.set_pose = setter.set_joints, setter.set_pose
        self._requests, self._endpoints, self._now = requests, endpoints, now
        self._post = partial(later, endpoints.node)
        self._publishers: dict[str, Publisher] = {}
        self._reported: dict[str, tuple[Request, float]] = {}
        self._pulled: tuple[str, Pull, Request] | None = None
        self._repeat_at = 0.0

    @property
    def is_pulling(self) -> bool:
        """Whether a pull is active."""
        return self._pulled is not None

    def tick(self, now: float) -> None:
        """Repeat the feedback of the pull when due; `now` is monotonic [s]."""
        if self._pulled is not None and now >= self._repeat_at:
            self._repeat_at = now + REPEAT_S
            self._publish_pull(*self._pulled, InteractiveMarkerFeedback.POSE_UPDATE)

    def command_joints(self, namespace: str, positions: Mapping[str, float]) -> Request:
        """Publish position references of joints of a robot [rad or m]."""
        message = JointState(
            name=list(positions), position=[float(value) for value in positions.values()]
        )
        what = next(iter(positions)) if len(positions) == 1 else f"{len(positions)} joints"
        request = self._report(f"command {what}{f' of {namespace}' if namespace else ''}")
        topic = in_namespace(namespace, CommandSource.JOINT_COMMANDS)
        self._post(self._publish, message, topic, RELIABLE, request)
        return request

    def pull(self, frame: str, pull: Pull) -> None:
        """Pull at a TF frame until `release`; a pull at another frame ends."""
        self._post(self._pull, frame, pull)

    def release(self) -> None:
        """End the pull."""
        self._post(self._release)

    def move_mocap(
        self, namespace: str, name: str, position: np.ndarray, quat_wxyz: np.ndarray
    ) -> Request:
        """Publish the pose of a mocap body."""
        topic = in_namespace(namespace, "mocap", topic_token(name), "pose")
        request = self._report(f"move {in_namespace(namespace, name)}")
        self._post(self._publish, _pose_stamped(position, quat_wxyz), topic, RELIABLE, request)
        return request

    def publish_target(self, name: str, position: np.ndarray, quat_wxyz: np.ndarray) -> Request:
        """Publish the pose of a target frame, stamped with the simulated time."""
        message = _pose_stamped(position, quat_wxyz)
        message.header.stamp = stamp(self._now())
        request = self._report(f"move target {name}")
        self._post(self._publish, message, _target_topic(name), LATCHED, request)
        return request

    def remove_target(self, name: str) -> None:
        """Close the topic of a target frame."""
        self._post(self._close, _target_topic(name))

    def _pull(self, frame: str, pull: Pull) -> None:
        if self._pulled is None or self._pulled[0] != frame:
            self._release()
            request = self._requests.report(f"{'turn' if pull.turns else 'pull'} {frame}")
            self._publish_pull(frame, pull, request, InteractiveMarkerFeedback.MOUSE_DOWN)
        else:
            request = self._pulled[2]
        self._pulled = (frame, pull, request)

    def _release(self) -> None:
        if self._pulled is not None:
            self._publish_pull(*self._pulled, InteractiveMarkerFeedback.MOUSE_UP)
            self._pulled = None

    def _publish_pull(self, frame: str, pull: Pull, request: Request, event: int) -> None:
        lever = np.zeros(3)
        mujoco.mju_rotVecQuat(lever, pull.point, pull.quat_wxyz)
        message = InteractiveMarkerFeedback(
            marker_name=frame, event_type=event, mouse_point_valid=True
        )
        message.header.frame_id = WORLD
        message.control_name = TURN if pull.turns else MOVE
        message.pose = pose_message(pull.position - lever, pull.quat_wxyz)
        message.mouse_point = pose_message(pull.position, pull.quat_wxyz).position
        # The first and the last message of a pull alone would not pull.
        repeats = event == InteractiveMarkerFeedback.POSE_UPDATE
        rate_hz = 1.0 / REPEAT_S
        self._publish(message, PULL, RELIABLE, request if repeats else None, rate_hz=rate_hz)

    def _report(self, name: str) -> Request:
        """Return the request of a message; messages of one press have the same one."""
        now = time.monotonic()
        request, last = self._reported.get(name, (None, -inf))
        if request is None or now > last + _PRESS_S:
            request = self._requests.report(name)
        self._reported[name] = request, now
        return request

    def _publish(
        self,
        message: Any,
        topic: str,
        qos: QoSProfile,
        request: Request | None,
        *,
        rate_hz: float | None = None,
    ) -> None:
        """Publish a message, and write the command that publishes it into the request."""
        if topic not in self._publishers:
            self._publishers[topic] = self._endpoints.publisher(type(message), topic, qos)
        publisher = self._publishers[topic]
        publisher.publish(message)
        if request is not None:
            latched = qos is LATCHED
            name = publisher.topic_name
            request.command = topic_pub(name, message, rate_hz=rate_hz, latched=latched)

    def _close(self, topic: str) -> None:
        if (publisher := self._publishers.pop(topic, None)) is not None:
            self._endpoints.close(publisher)


def _target_topic(name: str) -> str:
    return in_namespace("target", topic_token(name), "pose")


def _pose_stamped(position: np.ndarray, quat_wxyz: np.ndarray) -> PoseStamped:
    message = PoseStamped(pose=pose_message(position, quat_wxyz))
    message.header.frame_id = WORLD
    return message
