"""Joint commands as streams carry them, checked and ready to be applied."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mujoco_ros.control.errors import CommandError, JointError
from mujoco_ros.control.joints import Clamped, ControlledJoints, check_numbers
from mujoco_ros.control.modes import INTERFACES, POSITION
from mujoco_ros.control.settings import OutOfLimits

_ROWS = {interface: row for row, interface in enumerate(INTERFACES)}


@dataclass(frozen=True, kw_only=True)
class JointCommand:
    """What some joints are told.

    Attributes:
        joints: Indices of the joints.  # (k,)
        values: Position, velocity and effort; NaN leaves one as it is.  # (3, k)
        clamped: Which positions were moved into the joints' limits.
    """

    joints: np.ndarray
    values: np.ndarray
    clamped: Clamped


def joint_command(
    joints: ControlledJoints,
    out_of_limits: OutOfLimits,
    names: Sequence[str],
    fields: Sequence[Sequence[float]],
) -> JointCommand:
    """Check a command by name.

    Args:
        joints: The robot's joints.
        out_of_limits: What happens to positions beyond the limits.
        names: The joints it is for.
        fields: Position, velocity and effort, each empty or as long as `names`.

    Raises:
        CommandError: It is wrong; the message names the joint. Joints about which it says nothing
            are left out of the result.
    """
    if not names:
        raise JointError("the command names no joints")
    indices = joints.find(names)
    values = np.full((3, len(names)), np.nan)
    for row, (what, field) in enumerate(zip(INTERFACES, fields, strict=True)):
        if not len(field):
            continue
        if len(field) != len(names):
            raise CommandError(
                f"{what} has {len(field)} values for {len(names)} joints; give one for each "
                "(NaN leaves a joint as it is), or none"
            )
        values[row] = field
        check_numbers(values[row], what, names, nan=True)
        joints.check_takes(indices, what, ~np.isnan(values[row]))
    values[0], clamped = joints.limited(indices, values[0], out_of_limits)
    said = ~np.isnan(values).all(axis=0)
    return JointCommand(joints=indices[said], values=values[:, said], clamped=clamped)


def forward_command(
    joints: ControlledJoints,
    out_of_limits: OutOfLimits,
    interface: str,
    data: Sequence[float],
) -> JointCommand:
    """Check a command of one quantity for all joints that take it, in model order.

    Args:
        joints: The robot's joints.
        out_of_limits: What happens to positions beyond the limits.
        interface: ``position``, ``velocity`` or ``effort``.
        data: One value for each joint.

    Raises:
        CommandError: It is wrong; the message names the joint.
    """
    chosen = joints.taking(interface)
    names = [joints.names[i] for i in chosen]
    if len(data) != len(chosen):
        raise CommandError(
            f"{len(data)} values for {len(chosen)} joints; the order is: {', '.join(names)}"
        )
    indices = np.array(chosen, dtype=np.intp)
    values = np.full((3, len(chosen)), np.nan)
    row = _ROWS[interface]
    values[row] = data
    check_numbers(values[row], interface, names, nan=False)
    clamped = Clamped()
    if interface == POSITION:
        values[0], clamped = joints.limited(indices, values[0], out_of_limits)
    return JointCommand(joints=indices, values=values, clamped=clamped)
