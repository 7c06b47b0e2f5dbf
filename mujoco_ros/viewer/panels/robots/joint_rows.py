"""What a table of joints says of each that does not change from step to step."""

import math
from dataclasses import dataclass

import mujoco

from mujoco_ros.model.robot.actuator_limits import joint_actuators, joint_effort
from mujoco_ros.model.robot.layout import Joints

_TURN = math.pi
_WAY = 1.0
"""Ranges of sliders for joints without limits [rad], [m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JointRow:
    """A joint of a robot.

    Attributes:
        name: Without the robot's prefix.
        qpos: Address of its position in qpos.
        dof: Address of its velocity and torque.
        slides: Whether it is moved in m with N, not in rad with Nm.
        low: Lowest position [rad or m].
        high: Highest position.
        is_limited: Whether the model has these limits; otherwise they are those of a slider only.
        effort: The most that its actuators give [Nm or N]; infinite if that is not limited.
        is_driven: Whether an actuator acts on it.
    """

    name: str
    qpos: int
    dof: int
    slides: bool
    low: float
    high: float
    is_limited: bool
    effort: float
    is_driven: bool

    @property
    def unit(self) -> str:
        """Unit of its position."""
        return "m" if self.slides else "rad"

    @property
    def effort_unit(self) -> str:
        """Unit of its effort."""
        return "N" if self.slides else "Nm"


def joint_rows(model: mujoco.MjModel, joints: Joints) -> tuple[JointRow, ...]:
    """Return a row for each joint of a robot, in their order."""
    return tuple(
        _row(model, name, int(joint)) for name, joint in zip(joints.names, joints.ids, strict=True)
    )


def _row(model: mujoco.MjModel, name: str, joint: int) -> JointRow:
    slides = bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE)
    is_limited = bool(model.jnt_limited[joint])
    reach = _WAY if slides else _TURN
    low, high = model.jnt_range[joint] if is_limited else (-reach, reach)
    return JointRow(
        name=name,
        qpos=int(model.jnt_qposadr[joint]),
        dof=int(model.jnt_dofadr[joint]),
        slides=slides,
        low=float(low),
        high=float(high),
        is_limited=is_limited,
        effort=joint_effort(model, joint),
        is_driven=bool(joint_actuators(model, joint)),
    )
