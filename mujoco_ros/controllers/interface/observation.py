"""What a controller sees: one dataclass wherever it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.control.pose import Pose as Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseReading:
    """A floating base: its pose in ``world``, and its velocity in its own frame.

    Attributes:
        pose: In ``world``.
        linear: [m/s], in the base's frame.  # (3,)
        angular: [rad/s], in the base's frame.  # (3,)
    """

    pose: Pose
    linear: np.ndarray
    angular: np.ndarray


@dataclass(frozen=True, kw_only=True, slots=True)
class WrenchReading:
    """What a force-torque sensor reads, in its own frame: the load, a hanging weight reads down.

    Attributes:
        force: [N]  # (3,)
        torque: [Nm]  # (3,)
    """

    force: np.ndarray
    torque: np.ndarray


@dataclass(frozen=True, kw_only=True, slots=True)
class ImuReading:
    """What an IMU reads, in its own frame.

    Attributes:
        angular_velocity: [rad/s]  # (3,)
        linear_acceleration: Specific force, +g upwards at rest [m/s²].  # (3,)
        quat_wxyz: Orientation in ``world``; None where the sensor has none.  # (4,)
    """

    angular_velocity: np.ndarray
    linear_acceleration: np.ndarray
    quat_wxyz: np.ndarray | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """One robot at one instant; whoever gets it may keep it, its arrays are not written again.

    Attributes:
        time: Simulated time, or that of the robot's stamps [s].
        q: Positions of the robot's joints, in `Robot.joints`' order [rad or m].  # (n,)
        dq: Their velocities.  # (n,)
        effort: Efforts of their actuators [Nm or N].  # (n,)
        base: The floating base; None for a robot that is fixed.
        imus: By name.
        wrenches: Of force-torque sensors, by name.
        touches: Normal forces of touch sensors by name [N].
        objects: Poses in ``world`` of free objects by name, as far as they are known.
    """

    time: float
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray
    base: BaseReading | None = None
    imus: Mapping[str, ImuReading] = field(default_factory=dict)
    wrenches: Mapping[str, WrenchReading] = field(default_factory=dict)
    touches: Mapping[str, float] = field(default_factory=dict)
    objects: Mapping[str, Pose] = field(default_factory=dict)
