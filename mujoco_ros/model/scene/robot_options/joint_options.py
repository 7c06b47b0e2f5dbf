"""Armature, friction, damping, gains and start position of joints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase

import mujoco

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.keyframes import SCALAR

_LARGEST = 1e6


@dataclass(frozen=True, kw_only=True, slots=True)
class JointOptions:
    """Settings of a joint; None keeps the value of the model.

    Attributes:
        armature: Inertia of the rotor at the joint, times the square of the gear ratio [kg m² or
            kg].
        friction: Dry friction [Nm or N].
        damping: Viscous damping [Nms/rad or Ns/m].
        kp: Stiffness of the PD law of its torque motor [Nm/rad or N/m].
        kd: Damping of the PD law [Nms/rad or Ns/m].
        start: Position at the start and after a reset [rad or m].
    """

    armature: float | None = None
    friction: float | None = None
    damping: float | None = None
    kp: float | None = None
    kd: float | None = None
    start: float | None = None

    def __post_init__(self) -> None:
        for name in ("armature", "friction", "damping", "kp", "kd"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= _LARGEST:
                raise UserInputError(f"'{name}' must be from 0 to {_LARGEST:g}, got {value:g}")

    def updated(self, other: "JointOptions") -> "JointOptions":
        """Return these settings with the values of others."""
        values = {field.name: getattr(other, field.name) for field in fields(other)}
        return replace(self, **{name: it for name, it in values.items() if it is not None})


def gain_options(
    options: Mapping[str, JointOptions], joints: Sequence[str], where: str
) -> dict[str, tuple[float | None, float | None]]:
    """Return kp and kd of the joints that have them, by joint.

    Args:
        options: Settings by joint or pattern; of several for a joint, the last value counts.
        joints: The joints with a PD law.
        where: Begins error messages.

    Raises:
        UserInputError: A name with gains matches none of the joints.
    """
    found: dict[str, tuple[float | None, float | None]] = {}
    for pattern, option in options.items():
        if option.kp is None and option.kd is None:
            continue
        names = [name for name in joints if fnmatchcase(name, pattern)]
        if not names:
            raise unknown("joint with a PD law", pattern, joints, where=f"{where}: joints")
        for name in names:
            kp, kd = found.get(name, (None, None))
            found[name] = (
                kp if option.kp is None else option.kp,
                kd if option.kd is None else option.kd,
            )
    return found


def apply_joint_options(
    spec: mujoco.MjSpec, options: Mapping[str, JointOptions], where: str
) -> dict[str, float]:
    """Change the joints of a robot.

    Args:
        spec: The model of the robot.
        options: Settings by joint, or by pattern of the shell (``*_knee``); of several for the
            same joint, the last one with a value counts.
        where: Begins error messages.

    Returns:
        Start positions by joint [rad or m].

    Raises:
        UserInputError: A name matches no joint, or a start position is outside the limits.
    """
    joints = {joint.name: joint for joint in spec.joints if int(joint.type) in SCALAR}
    start: dict[str, float] = {}
    for pattern, option in options.items():
        found = [name for name in joints if fnmatchcase(name, pattern)]
        if not found:
            raise unknown("joint", pattern, joints, where=f"{where}: joints")
        for name in found:
            _change(joints[name], option)
            if option.start is not None:
                start[name] = option.start
    _check_limits(spec, start, where)
    return start


def _change(joint: mujoco.MjsJoint, option: JointOptions) -> None:
    if option.armature is not None:
        joint.armature = option.armature
    if option.friction is not None:
        joint.frictionloss = option.friction
    if option.damping is not None:
        joint.damping = [option.damping, 0.0, 0.0]


def _check_limits(spec: mujoco.MjSpec, start: Mapping[str, float], where: str) -> None:
    if not start:
        return
    model = spec.compile()
    for name, position in start.items():
        joint = model.joint(name)
        lower, upper = joint.range
        if joint.limited[0] and not lower <= position <= upper:
            raise UserInputError(
                f"{where}: joints: the start position {position:g} of '{name}' is outside its "
                f"limits [{lower:g}, {upper:g}]"
            )
