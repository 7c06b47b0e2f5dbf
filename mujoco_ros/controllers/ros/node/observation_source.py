"""Observations of a robot from its topics."""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState

from mujoco_ros.bridge.publishing.topics import RELIABLE, SENSOR, WrenchSign
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.controllers.interface.observation import (
    BaseReading,
    ImuReading,
    Observation,
    Pose,
    WrenchReading,
)
from mujoco_ros.controllers.ros.node.inbox import Inbox
from mujoco_ros.controllers.ros.node.joint_state import JointReader
from mujoco_ros.controllers.ros.node.object_frames import ObjectFrames
from mujoco_ros.controllers.ros.node.readings import SensorReadings
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.layout import ModelLayout

_NS = 1_000_000_000
JOINT_STATES = "joint_states"


class TopicObservationSource:
    """Subscribes to all topics of one robot, and to TF for the poses of free objects.

    An observation has the joint states of the tick, and the newest messages of all other topics.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        layout: ModelLayout,
        index: int,
        *,
        heard: Callable[[], object],
        every: bool = False,
        wrench_sign: WrenchSign,
        without: Collection[str] = (),
    ) -> None:
        """Subscribe to the topics of the robot with an index.

        Args:
            endpoints: Endpoints of the controller's node.
            layout: The sensors and objects of the scene.
            index: Index of the robot.
            heard: Called after each message of its joint states.
            every: Whether `heard` is also called after each message of its sensors.
            wrench_sign: Sign of the robot's wrenches.
            without: Topics that the real robot lacks; ``tf/box`` is the pose of a box.

        Raises:
            UserInputError: `without` names a topic that is not in the scene.
        """
        robot = layout.robots[index]
        rows = list(_rows(layout, index))
        others = heard if every else _nothing
        objects = [name for name, _ in layout.free_objects]
        known = [*(topic for topic, *_ in rows), *(_tf(name) for name in objects)]
        for topic in without:
            if topic not in known:
                raise unknown("topic", topic, known, where="without")
        self._inboxes: dict[str, dict[str, Inbox]] = {kind: {} for kind in _TABLE}
        for topic, kind, name in rows:
            if topic not in without:
                message, qos, _ = _TABLE[kind]
                self._inboxes[kind][name] = Inbox(
                    endpoints, message, within(robot.namespace, topic), qos, others
                )
        self._sign = 1.0 if wrench_sign == "child_on_parent" else -1.0
        self._reader = JointReader(robot.joints.names)
        self._frames = ObjectFrames(endpoints, objects, others)
        self._sought = [name for name in objects if _tf(name) not in without]
        self._joint_states = Inbox(
            endpoints, JointState, within(robot.namespace, JOINT_STATES), RELIABLE, heard
        )

    @property
    def stamp(self) -> int | None:
        """Stamp of the newest joint states [ns]; None before the first."""
        return self._joint_states.stamp

    @property
    def missing(self) -> tuple[str, ...]:
        """Topics without a message so far, and objects without a pose."""
        silent = (box.topic for box in self._boxes() if box.stamp is None)
        unseen = (_tf(name) for name in self._sought if not self._frames.is_known(name))
        return (*silent, *unseen)

    @property
    def complete(self) -> bool:
        """Whether all sensors have the stamp of the joint states, and no object is older."""
        stamp = self.stamp
        if stamp is None or any(box.stamp != stamp for box in self._boxes()):
            return False
        return all(self._frames.stamp(name) >= stamp for name in self._sought)

    def _readings(self, kind: str) -> SensorReadings[Any]:
        read = partial(_TABLE[kind][-1], sign=self._sign)
        boxes = self._inboxes[kind].items()
        return SensorReadings({name: box.newest for name, box in boxes if box.newest}, read)

    def _boxes(self) -> Iterator[Inbox]:
        yield self._joint_states
        for named in self._inboxes.values():
            yield from named.values()

    def forget(self) -> None:
        """Discard the poses of objects, after a reset or a jump of the state."""
        self._frames.forget()

    def observe(self) -> Observation:
        """Return the observation at the stamp of the newest joint states.

        Raises:
            UserInputError: The joint states are not those of the robot.
        """
        time = (self.stamp or 0) / _NS
        joints = self._reader.read(self._joint_states.message)
        self._frames.drain()
        seen = {kind: self._readings(kind) for kind in _TABLE}
        return Observation(
            time=time,
            q=joints.q,
            dq=joints.dq,
            effort=joints.effort,
            base=seen["odom"].get(""),
            imus=seen["imu"],
            wrenches=seen["wrench"],
            touches=seen["contact"],
            objects=self._frames.poses(time),
        )


def _tf(name: str) -> str:
    return f"tf/{name}"


def _nothing() -> None:
    pass


def _rows(layout: ModelLayout, index: int) -> Iterator[tuple[str, str, str]]:
    """Yield topic, kind and name of all sensors of a robot, and of its base."""
    robot = layout.robots[index]
    for kind, sensors in (
        ("imu", robot.imus),
        ("wrench", robot.force_torques),
        ("contact", robot.touches),
    ):
        for sensor in sensors:
            name = topic_token(sensor.name)
            yield within(kind, name), kind, name
    if robot.bases:
        first = topic_token(robot.bases[0].name) if len(robot.bases) > 1 else ""
        yield within("odom", first), "odom", ""


def _vector(message: Any) -> np.ndarray:
    return np.array([message.x, message.y, message.z])


def _quat(message: Any) -> np.ndarray:
    return np.array([message.w, message.x, message.y, message.z])


def _base(message: Odometry, *, sign: float) -> BaseReading:
    pose, twist = message.pose.pose, message.twist.twist
    return BaseReading(
        pose=Pose(position=_vector(pose.position), quat_wxyz=_quat(pose.orientation)),
        linear=_vector(twist.linear),
        angular=_vector(twist.angular),
    )


def _inertial(message: Imu, *, sign: float) -> ImuReading:
    """Read an IMU; a quantity whose covariance starts with -1 is not measured."""
    nothing = np.full(3, np.nan)
    return ImuReading(
        angular_velocity=nothing
        if message.angular_velocity_covariance[0] == -1.0
        else _vector(message.angular_velocity),
        linear_acceleration=nothing
        if message.linear_acceleration_covariance[0] == -1.0
        else _vector(message.linear_acceleration),
        quat_wxyz=None if message.orientation_covariance[0] == -1.0 else _quat(message.orientation),
    )


def _wrench(message: WrenchStamped, *, sign: float) -> WrenchReading:
    wrench = message.wrench
    return WrenchReading(force=sign * _vector(wrench.force), torque=sign * _vector(wrench.torque))


def _touch(message: WrenchStamped, *, sign: float) -> float:
    return float(message.wrench.force.z)


_TABLE: dict[str, tuple[Any, Any, Callable[..., Any]]] = {
    "odom": (Odometry, RELIABLE, _base),
    "imu": (Imu, SENSOR, _inertial),
    "wrench": (WrenchStamped, SENSOR, _wrench),
    "contact": (WrenchStamped, SENSOR, _touch),
}
"""Kinds of topics: message type, quality of service, and reader."""
