"""Constant properties of the joints in the joint table."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.actuators import joint_actuators, joint_effort
from mujoco_ros.model.robot.layout import Joints

_UNLIMITED_ANGLE = np.pi
_UNLIMITED_TRAVEL = 1.0
"""Half the slider range of joints without limits [rad], [m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JointRow:
    """A joint of a robot.

    Attributes:
        name: Without the robot's prefix.
        qpos: Address in ``qpos``.
        dof: Address in ``qvel`` and ``qfrc_actuator``.
        is_prismatic: Whether the units are m and N, not rad and Nm.
        low: Lowest position [rad or m].
        high: Highest position [rad or m].
        is_limited: Whether the model has these limits; otherwise they are slider ranges.
        effort: Effort limit of its actuators [Nm or N]; infinite if unlimited.
        is_actuated: Whether an actuator drives it.
    """

    name: str
    qpos: int
    dof: int
    is_prismatic: bool
    low: float
    high: float
    is_limited: bool
    effort: float
    is_actuated: bool

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
    return tuple(
        _row(model, name, int(joint)) for name, joint in zip(joints.names, joints.ids, strict=True)
    )


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
        is_actuated=bool(joint_actuators(model, joint)),
    )
