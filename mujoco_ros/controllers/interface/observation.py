"""The observation of a controller, identical in the simulator and on a robot."""

from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, TypeVar, get_args, get_type_hints

import numpy as np

from mujoco_ros.model.errors import unknown
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.pose import Pose as Pose

T = TypeVar("T")


def _unknown() -> np.ndarray:
    return np.full(3, np.nan)


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseReading:
    """Pose and velocity of a floating base.

    Attributes:
        pose: Base frame in ``world``.
        linear: Linear velocity in the base frame [m/s].  # (3,)
        angular: Angular velocity in the base frame [rad/s].  # (3,)
    """

    pose: Pose
    linear: np.ndarray
    angular: np.ndarray


@dataclass(frozen=True, kw_only=True, slots=True)
class WrenchReading:
    """Load on a force-torque sensor in the sensor frame; a hanging weight gives a downward force.

    Attributes:
        force: [N]; NaN if not measured.  # (3,)
        torque: [Nm]; NaN if not measured.  # (3,)
    """

    force: np.ndarray = field(default_factory=_unknown)
    torque: np.ndarray = field(default_factory=_unknown)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImuReading:
    """Measurement of an IMU in the sensor frame.

    Attributes:
        angular_velocity: [rad/s]; NaN if not measured.  # (3,)
        linear_acceleration: Specific force, +g upwards at rest [m/s²]; NaN if not measured.  # (3,)
        quat_wxyz: Orientation in ``world``; None if not measured.  # (4,)
    """

    angular_velocity: np.ndarray = field(default_factory=_unknown)
    linear_acceleration: np.ndarray = field(default_factory=_unknown)
    quat_wxyz: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PoseReading:
    """Pose of a body, geom, site or camera in the reference frame of its sensor.

    Attributes:
        position: [m]; NaN if not measured.  # (3,)
        quat_wxyz: NaN if not measured.  # (4,)
    """

    position: np.ndarray = field(default_factory=_unknown)
    quat_wxyz: np.ndarray = field(default_factory=lambda: np.full(4, np.nan))


@dataclass(frozen=True, kw_only=True, slots=True)
class MotionReading:
    """Velocity or acceleration of a body, geom, site or camera.

    Attributes:
        linear: [m/s or m/s²]; NaN if not measured.  # (3,)
        angular: [rad/s or rad/s²]; NaN if not measured.  # (3,)
    """

    linear: np.ndarray = field(default_factory=_unknown)
    angular: np.ndarray = field(default_factory=_unknown)


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """State and sensors of one robot at one instant; its arrays never change.

    Attributes:
        time: Simulated time, or time of the robot's stamps [s].
        q: Joint positions in the order of `RobotModel.joints` [rad or m].  # (n,)
        dq: Joint velocities [rad/s or m/s].  # (n,)
        effort: Actuator efforts [Nm or N].  # (n,)
        base: The floating base; None for a fixed robot.
        imus: IMUs by name.
        wrenches: Force-torque sensors by name.
        touches: Normal forces of touch sensors by name [N].
        magnetometers: Magnetic fields in the frames of magnetometers by name [T].  # (3,)
        ranges: Distances of rangefinders by name, inf if out of range [m].
        velocimeters: Linear velocities in the frames of velocimeters by name.
        poses: Poses in the reference frames of sensors by name.
        twists: Velocities in the axes of those frames by name.
        accels: Accelerations in the axes of ``world`` by name; linear ones are specific forces, +g
            upwards at rest.
        axes: Axes in the reference frames of sensors by name.  # (3,)
        subtree_coms: Centres of mass in ``world`` by name [m].  # (3,)
        subtree_linvels: Velocities of centres of mass by name [m/s].  # (3,)
        subtree_angmoms: Angular momenta about centres of mass by name [Nms].  # (3,)
        sensor_states: Values of the sensors of the topic ``sensor_states`` by name.  # (n,)
        objects: Poses of free objects in ``world`` by name, if known.
        object_times: Times to which these poses belong [s]; a pose without one belongs to `time`.
        robots: The observation of each robot of a controller of several, by the name in its table.
            Their joints follow each other in `q`, `dq` and `effort`; sensors are there alone.
    """

    time: float
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray
    base: BaseReading | None = None
    imus: Mapping[str, ImuReading] = field(default_factory=dict)
    wrenches: Mapping[str, WrenchReading] = field(default_factory=dict)
    touches: Mapping[str, float] = field(default_factory=dict)
    magnetometers: Mapping[str, np.ndarray] = field(default_factory=dict)
    ranges: Mapping[str, float] = field(default_factory=dict)
    velocimeters: Mapping[str, MotionReading] = field(default_factory=dict)
    poses: Mapping[str, PoseReading] = field(default_factory=dict)
    twists: Mapping[str, MotionReading] = field(default_factory=dict)
    accels: Mapping[str, MotionReading] = field(default_factory=dict)
    axes: Mapping[str, np.ndarray] = field(default_factory=dict)
    subtree_coms: Mapping[str, np.ndarray] = field(default_factory=dict)
    subtree_linvels: Mapping[str, np.ndarray] = field(default_factory=dict)
    subtree_angmoms: Mapping[str, np.ndarray] = field(default_factory=dict)
    sensor_states: Mapping[str, np.ndarray] = field(default_factory=dict)
    objects: Mapping[str, Pose] = field(default_factory=dict)
    object_times: Mapping[str, float] = field(default_factory=dict)
    robots: "Mapping[str, Observation]" = field(default_factory=dict)

    @classmethod
    def of_several(cls, robots: "Mapping[str, Observation]") -> "Observation":
        """Return the observations of several robots at one instant as one, or of one robot ""."""
        if "" in robots:
            return robots[""]
        each = tuple(robots.values())
        return cls(
            time=each[0].time,
            q=np.concatenate([one.q for one in each]),
            dq=np.concatenate([one.dq for one in each]),
            effort=np.concatenate([one.effort for one in each]),
            objects=each[0].objects,
            object_times=each[0].object_times,
            robots=robots,
        )

    def object_age(self, name: str) -> float:
        """Return the age of an object's pose [s]."""
        return max(0.0, self.time - self.object_times.get(name, self.time))


def named_reading(kind: str, name: str, readings: Mapping[str, T]) -> T:
    """Return the reading of a sensor of a kind by its name in the model or in topics."""
    token = topic_token(name)
    if token not in readings:
        raise unknown(kind, name, readings)
    return readings[token]


def reading(entry: str, values: Mapping[str, Any]) -> Any:
    """Return the reading of a sensor from the measurements that it has.

    Args:
        entry: Field of `Observation` of the kind of sensor.
        values: Values by attribute of the reading.
    """
    make = _READINGS.get(entry)
    return make(**values) if make else next(iter(values.values()))


_READINGS: dict[str, Any] = {
    name: kinds[-1]
    for name, hint in get_type_hints(Observation).items()
    if (kinds := get_args(hint)) and is_dataclass(kinds[-1])
}
