"""What a table of joints needs to know about each joint of a robot."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.actuators import (
    actuator_kind,
    joint_actuators,
    joint_effort,
    takes_velocities,
)
from mujoco_ros.model.robot.layout import Joints

_UNLIMITED_ANGLE = np.pi
_UNLIMITED_TRAVEL = 1.0  # half the slider range of joints without limits [rad], [m]
_SLACK = 1e-3  # [rad or m]
FASTEST = 10.0
"""Half the slider range of a velocity [rad/s or m/s]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JointRow:
    """A joint of a robot."""

    name: str  # without the robot's prefix
    qpos: int  # address in ``qpos``
    dof: int  # address in ``qvel`` and ``qfrc_actuator``
    is_prismatic: bool  # whether the units are m and N, not rad and Nm
    low: float  # lowest position [rad or m]
    high: float  # highest position [rad or m]
    is_limited: bool  # whether the model has these limits; otherwise they are slider ranges
    effort: float  # effort limit of its actuators [Nm or N]; infinite if unlimited
    is_actuated: bool  # whether an actuator drives it that takes references
    takes_velocities: bool  # whether its actuators take velocities alone

    def is_beyond(self, q: float) -> bool:
        """Whether a position [rad or m] is beyond the limits, which are soft."""
        return self.is_limited and not self.low - _SLACK <= q <= self.high + _SLACK

    @property
    def unit(self) -> str:
        """Unit of the position."""
        return "m" if self.is_prismatic else "rad"

    @property
    def effort_unit(self) -> str:
        """Unit of the effort."""
        return "N" if self.is_prismatic else "Nm"


def joint_rows(model: mujoco.MjModel, joints: Joints) -> tuple[JointRow, ...]:
    """Return a row per joint of a robot."""
    ids = map(int, joints.ids)
    return tuple(_row(model, *joint) for joint in zip(joints.names, ids, strict=True))


def _row(model: mujoco.MjModel, name: str, joint: int) -> JointRow:
    is_prismatic = bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE)
    is_limited = bool(model.jnt_limited[joint])
    half = _UNLIMITED_TRAVEL if is_prismatic else _UNLIMITED_ANGLE
    low, high = model.jnt_range[joint] if is_limited else (-half, half)
    return JointRow(
        name=name,
        qpos=int(model.jnt_qposadr[joint]),
        dof=int(model.jnt_dofadr[joint]),
        is_prismatic=is_prismatic,
        low=float(low),
        high=float(high),
        is_limited=is_limited,
        effort=joint_effort(model, joint),
        is_actuated=any(
            actuator_kind(model, actuator) not in ("muscle", "plugin")
            for actuator in joint_actuators(model, joint)
        ),
        takes_velocities=takes_velocities(model, joint),
    )
