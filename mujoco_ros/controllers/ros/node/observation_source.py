"""Observations of a robot from its topics."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from control_msgs.msg import DynamicJointState
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from mujoco_ros.controllers.interface.observation import BaseReading, Observation, Pose, reading
from mujoco_ros.controllers.ros.node.inbox import Inbox, ObjectFrames, SensorReadings
from mujoco_ros.controllers.runtime.ticks import tick_time
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind
from mujoco_ros.model.sensors.sensor_states import STATES
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.message_template import get_field, message_type
from mujoco_ros.wire.parameter_spec import WrenchSign
from mujoco_ros.wire.qos import RELIABLE, SENSOR


class JointArrays(NamedTuple):
    """Joint states in the robot's order; NaN where the message has no value.  # (n,)"""

    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray


class JointReader:
    """Reads joint states of a robot; the order of names is cached."""

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = tuple(joints)
        self._names: tuple[str, ...] = ()
        self._order = np.empty(0, dtype=np.intp)

    def read(self, message: JointState) -> JointArrays:
        """Return the values of a message; UserInputError if joints or values are missing."""
        names = tuple(message.name)
        if names != self._names:
            missing = [joint for joint in self._joints if joint not in names]
            if missing:
                known = ", ".join(names) or "none"
                raise UserInputError(f"joint_states lack {', '.join(missing)}; they have: {known}")
            self._order = np.array([names.index(joint) for joint in self._joints], dtype=np.intp)
            self._names = names
        return JointArrays(
            q=self._column("positions", message.position),
            dq=self._column("velocities", message.velocity),
            effort=self._column("efforts", message.effort),
        )

    def _column(self, what: str, values: Sequence[float]) -> np.ndarray:
        if not len(values):
            if what == "positions":
                raise UserInputError("joint_states have no positions")
            return np.full(len(self._joints), np.nan)
        if len(values) != len(self._names):
            raise UserInputError(
                f"joint_states have {len(values)} {what} for {len(self._names)} joints"
            )
        return np.array(values)[self._order]


JOINT_STATES = "joint_states"
_ODOM = "odom"


class TopicObservationSource:
    """Subscribes to all topics of one robot, and to TF for the poses of free objects.

    An observation has the joint states of the tick, and the newest messages of all other topics,
    which are taken in a tick only, unless it waits for them: joint states would wait meanwhile.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        layout: ModelLayout,
        index: int,
        *,
        period: float,
        on_message: Callable[[], object],
        every: bool = False,
        wrench_sign: WrenchSign,
        without: Collection[str] = (),
    ) -> None:
        """Subscribe to the topics of the robot with an index.

        `on_message` is called after each message of its joint states, and with `every` after each
        message of its sensors. The real robot lacks the topics `without`; ``tf/box`` is the pose of
        a box. UserInputError if one of them is not in the scene.
        """
        self._period = period
        robot = layout.robots[index]
        rows = list(_rows(layout, index))
        on_sensor = on_message if every else None
        objects = [name for name, _ in layout.free_objects]
        known = [*(topic for topic, *_ in rows), *(_tf(name) for name in objects)]
        for topic in without:
            if topic not in known:
                raise unknown("topic", topic, known, where="without")
        self._kinds = _kinds(1.0 if wrench_sign == "child_on_parent" else -1.0)
        self._inboxes: dict[str, dict[str, Inbox]] = {key: {} for key in self._kinds}
        for topic, key, name in rows:
            if topic not in without:
                kind = self._kinds[key]
                name_in_ros = in_namespace(robot.namespace, topic)
                self._inboxes[key][name] = Inbox(
                    *(endpoints, kind.message, name_in_ros, kind.qos, on_sensor), polled=not every
                )
        self._reader = JointReader(robot.joints.names)
        self._frames = ObjectFrames(endpoints, objects, on_sensor)
        self._objects = [name for name in objects if _tf(name) not in without]
        self._ended: dict[str, int | None] = {}  # stamps of the last messages
        self._joint_states = Inbox(
            endpoints, JointState, in_namespace(robot.namespace, JOINT_STATES), RELIABLE, on_message
        )

    @property
    def stamp(self) -> int | None:
        """Stamp of the newest joint states [ns]; None before the first."""
        return self._joint_states.stamp

    @property
    def time(self) -> float:
        """Time of a tick at the newest joint states [s]."""
        return tick_time(self.stamp or 0, self._period)

    @property
    def count(self) -> int:
        """Number of messages of joint states."""
        return self._joint_states.count

    @property
    def missing(self) -> tuple[str, ...]:
        """Topics without a message so far, and objects without a pose."""
        self._poll()
        silent = (box.topic for box in self._boxes() if box.stamp is None)
        unseen = (_tf(name) for name in self._objects if not self._frames.is_known(name))
        return (*silent, *unseen)

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Topics without a message of the stamp of the joint states, and such objects."""
        stamp, ended = self.stamp, self._ended
        return tuple(
            topic
            for topic, newest in self._stamps().items()
            if (newest != stamp or stamp is None) and ended.get(topic, -1) != newest
        )

    def end(self, topics: Collection[str]) -> None:
        """Expect no message of topics or objects, switched off or deleted, until the next."""
        stamps = self._stamps()
        self._ended |= {topic: stamps[topic] for topic in topics}

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics and objects."""
        return tuple(self._stamps())

    def renew(self, topics: Collection[str]) -> None:
        """Subscribe to some topics again, as a waiting simulator sends a tick's messages anew."""
        for box in self._boxes():
            if box.topic in topics:
                box.renew()
        if any(_tf(name) in topics for name in self._objects):
            self._frames.renew()

    def _stamps(self) -> dict[str, int | None]:
        """Return the newest stamp of each topic and object [ns]."""
        stamps = {box.topic: box.stamp for box in self._boxes()}
        return stamps | {_tf(name): self._frames.stamp(name) for name in self._objects}

    def _readings(self, key: str) -> SensorReadings[Any]:
        boxes = self._inboxes[key].items()
        newest = {name: box.newest for name, box in boxes if box.newest}
        return SensorReadings(newest, self._kinds[key].read)

    def _poll(self) -> None:
        for box in self._boxes():
            box.poll()

    def _boxes(self) -> Iterator[Inbox]:
        yield self._joint_states
        for named in self._inboxes.values():
            yield from named.values()

    def forget(self) -> None:
        """Discard the poses of objects, after a reset or a jump of the state."""
        self._frames.forget(self.stamp or 0)

    def observe(self) -> Observation:
        """Return the observation at the stamp of the newest joint states; see `JointReader`."""
        joints = self._reader.read(self._joint_states.message)
        self._poll()
        self._frames.drain()
        readings: dict[str, Any] = {
            kind.observation: self._readings(kind.key) for kind in SENSOR_KINDS
        }
        base = self._readings(_ODOM)
        return Observation(
            time=self.time,
            q=joints.q,
            dq=joints.dq,
            effort=joints.effort,
            base=_MessageBase(base) if base else None,
            sensor_states=self._readings(STATES).get("", {}),
            objects=self._frames.poses(self.stamp or 0),
            object_times=self._frames.times(self.time),
            **readings,
        )


class _MessageBase(BaseReading):
    """The floating base of a message, which is deserialized on first use."""

    __slots__ = ("_readings",)
    _readings: Mapping[str, BaseReading]

    def __init__(self, readings: Mapping[str, BaseReading]) -> None:
        object.__setattr__(self, "_readings", readings)

    def __reduce__(self) -> tuple[Any, ...]:
        base = self._readings[""]
        return partial(BaseReading, pose=base.pose, linear=base.linear, angular=base.angular), ()

    @property
    def pose(self) -> Pose:
        return self._readings[""].pose

    @property
    def linear(self) -> np.ndarray:
        return self._readings[""].linear

    @property
    def angular(self) -> np.ndarray:
        return self._readings[""].angular


def _tf(name: str) -> str:
    return f"tf/{name}"


def _rows(layout: ModelLayout, index: int) -> Iterator[tuple[str, str, str]]:
    """Yield topic, kind and name of all sensors of a robot, and of its base."""
    robot = layout.robots[index]
    for key, sensors in robot.sensors.items():
        for sensor in sensors:
            name = topic_token(sensor.name)
            yield in_namespace(key, name), key, name
    if robot.states:
        yield STATES, STATES, ""
    if robot.base is not None:
        yield _ODOM, _ODOM, ""


class _Kind(NamedTuple):
    """A kind of topic: its message, its quality of service, and the reading of a message."""

    message: Any
    qos: QoSProfile
    read: Callable[[Any], Any]


def _kinds(load_sign: float) -> dict[str, _Kind]:
    return {
        _ODOM: _Kind(Odometry, RELIABLE, _base),
        STATES: _Kind(DynamicJointState, SENSOR, _states),
    } | {
        kind.key: _Kind(message_type(kind.message), SENSOR, partial(_read, kind, load_sign))
        for kind in SENSOR_KINDS
    }


def _read(kind: SensorKind, load_sign: float, message: Any) -> Any:
    values: dict[str, Any] = {}
    for measurement in kind.measurements:
        marks = measurement.absence
        if marks and all(
            np.array_equal(get_field(message, path), mark, equal_nan=True)
            for path, mark in marks.items()
        ):
            continue
        numbers = [float(get_field(message, path)) for path in measurement.paths]
        value = np.array(numbers) if measurement.axes else numbers[0]
        values[measurement.name] = (load_sign if measurement.is_load else 1.0) * value
    return reading(kind.observation, values)


def _states(message: DynamicJointState) -> dict[str, np.ndarray]:
    names, states = message.joint_names, message.interface_values
    return {name: np.array(state.values) for name, state in zip(names, states, strict=True)}


def _base(message: Odometry) -> BaseReading:
    pose, twist = message.pose.pose, message.twist.twist
    return BaseReading(
        pose=Pose(
            position=_numbers(pose.position, "xyz"), quat_wxyz=_numbers(pose.orientation, "wxyz")
        ),
        linear=_numbers(twist.linear, "xyz"),
        angular=_numbers(twist.angular, "xyz"),
    )


def _numbers(message: Any, axes: str) -> np.ndarray:
    return np.array([getattr(message, axis) for axis in axes])
