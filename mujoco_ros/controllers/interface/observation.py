"""The observation of a controller, identical in the simulator and on a robot."""

from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from mujoco_ros.model.pose import Pose as Pose


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
        force: [N]  # (3,)
        torque: [Nm]  # (3,)
    """

    force: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True, kw_only=True, slots=True)
class ImuReading:
    """Measurement of an IMU in the sensor frame.

    Attributes:
        angular_velocity: [rad/s]; NaN if not measured.  # (3,)
        linear_acceleration: Specific force, +g upwards at rest [m/s²]; NaN if not measured.  # (3,)
        quat_wxyz: Orientation in ``world``; None if not measured.  # (4,)
    """

    angular_velocity: np.ndarray = field(default_factory=lambda: np.full(3, np.nan))
    linear_acceleration: np.ndarray = field(default_factory=lambda: np.full(3, np.nan))
    quat_wxyz: np.ndarray | None = None


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
        objects: Poses of free objects in ``world`` by name, if known.
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
    objects: Mapping[str, Pose] = field(default_factory=dict)


def reading(entry: str, values: Mapping[str, Any]) -> Any:
    """Return the reading of a sensor.

    Args:
        entry: Field of `Observation` that has the readings of the kind of sensor.
        values: Values by attribute of the reading, without absent ones; the single value is the
            reading itself if the kind has no attributes.
    """
    make = _READINGS.get(entry)
    return make(**values) if make else next(iter(values.values()))


_READINGS: dict[str, Any] = {
    name: kinds[-1]
    for name, hint in get_type_hints(Observation).items()
    if (kinds := get_args(hint)) and is_dataclass(kinds[-1])
}
