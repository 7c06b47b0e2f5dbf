"""Checked joint commands of streams."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mujoco_ros.control.events import CommandError, JointError
from mujoco_ros.control.joints import (
    INTERFACES,
    LARGEST,
    POSITION,
    VELOCITY,
    Clamped,
    ControlledJoints,
    check_numbers,
)
from mujoco_ros.control.settings import OutOfLimits
from mujoco_ros.model.errors import counted

_ROWS = {interface: row for row, interface in enumerate(INTERFACES)}
Values = Sequence[float] | np.ndarray
_NOT_CLAMPED = Clamped()
_MOST_KNOWN = 16


@dataclass(frozen=True, kw_only=True)
class JointCommand:
    """A checked command."""

    joints: np.ndarray  # indices of the joints (k,)
    values: np.ndarray  # position, velocity and effort; NaN is unchanged (3, k)
    clamped: Clamped  # which positions were clamped to the joints' limits
    # Names of joints whose velocity was ignored: servos that take positions
    ignored: tuple[str, ...] = ()
    controller: str = ""  # name of the controller that sent it


def joint_command(
    joints: ControlledJoints,
    out_of_limits: OutOfLimits,
    names: Sequence[str],
    fields: Sequence[Values],
) -> JointCommand:
    """Return a checked command for named joints, without joints that have NaN only.

    Velocities of joints that take positions but no velocities are ignored: teleoperation and MoveIt
    send them with the positions. `fields` are position, velocity and effort, each empty or of the
    length of `names`.
    """
    if not names:
        raise JointError("the command names no joints")
    indices = joints.find(names)
    values = np.full((3, len(names)), np.nan)
    ignored = np.zeros(len(names), dtype=bool)
    for row, (interface, field) in enumerate(zip(INTERFACES, fields, strict=True)):
        if not len(field):
            continue
        if len(field) != len(names):
            raise CommandError(
                f"{interface} has {counted(len(field), 'value')} for "
                f"{counted(len(names), 'joint')}; give one for each "
                "(NaN leaves a joint as it is), or none"
            )
        values[row] = field
        check_numbers(values[row], interface, names, nan=True)
        if interface == VELOCITY:
            ignored = joints.position_only[indices] & ~np.isnan(values[row])
            values[row, ignored] = np.nan
        joints.check_interface(indices, interface, ~np.isnan(values[row]))
    values[0], clamped = joints.clamp(indices, values[0], out_of_limits)
    commanded = ~np.isnan(values).all(axis=0)
    if not commanded.any():  # a command of ignored velocities alone would do nothing
        joints.check_interface(indices, VELOCITY, ignored)
    return JointCommand(
        joints=indices[commanded],
        values=values[:, commanded],
        clamped=clamped,
        ignored=tuple(name for name, skip in zip(names, ignored, strict=True) if skip),
    )


class _Columns(NamedTuple):
    """Named joints, and the values that they take as they are."""

    joints: np.ndarray  # their indices (k,)
    least: np.ndarray  # smallest position, velocity and effort (3, k)
    # Largest ones; below `least` for a quantity that the joint does not take (3, k)
    most: np.ndarray


class JointCommandReader:
    """Checks the commands of a source, which usually names the joints of an earlier command.

    It gives the same result as `joint_command`, for known joints in a fifth of the time.
    """

    def __init__(self, joints: ControlledJoints) -> None:
        self._joints = joints
        self._known: dict[tuple[str, ...], _Columns] = {}

    def read(
        self, out_of_limits: OutOfLimits, names: tuple[str, ...], fields: Sequence[Values]
    ) -> JointCommand:
        """Return a checked command; see `joint_command`."""
        columns = self._known.get(names)
        if columns is None:
            command = joint_command(self._joints, out_of_limits, names, fields)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[names] = self._columns(names)
            return command
        values = np.empty((3, len(names)))
        for row, field in enumerate(fields):
            if len(field) not in (0, len(names)):
                return joint_command(self._joints, out_of_limits, names, fields)
            values[row] = field if len(field) else np.nan
        # Both are false for NaN, which is "unchanged".
        if (values < columns.least).any() or (values > columns.most).any():
            return joint_command(self._joints, out_of_limits, names, fields)
        commanded = ~np.isnan(values).all(axis=0)
        if commanded.all():
            return JointCommand(joints=columns.joints, values=values, clamped=_NOT_CLAMPED)
        return JointCommand(
            joints=columns.joints[commanded], values=values[:, commanded], clamped=_NOT_CLAMPED
        )

    def _columns(self, names: tuple[str, ...]) -> _Columns:
        joints = self._joints.find(names)
        most = np.full((3, len(names)), LARGEST)
        least = -most
        least[0] = np.maximum(least[0], self._joints.lower[joints])
        most[0] = np.minimum(most[0], self._joints.upper[joints])
        for column, joint in enumerate(joints.tolist()):
            for interface, row in _ROWS.items():
                if interface not in self._joints.interfaces[joint]:
                    least[row, column], most[row, column] = np.inf, -np.inf
        return _Columns(joints, least, most)


def forward_command(
    joints: ControlledJoints,
    out_of_limits: OutOfLimits,
    interface: str,
    data: Sequence[float],
) -> JointCommand:
    """Return a checked command of one interface for all joints that have it, in model order."""
    chosen = joints.with_interface(interface)
    names = [joints.names[i] for i in chosen]
    if len(data) != len(chosen):
        raise CommandError(
            f"{counted(len(data), 'value')} for {counted(len(chosen), 'joint')}; "
            f"the order is: {', '.join(names)}"
        )
    indices = np.array(chosen, dtype=np.intp)
    values = np.full((3, len(chosen)), np.nan)
    row = _ROWS[interface]
    values[row] = data
    check_numbers(values[row], interface, names, nan=False)
    clamped = Clamped()
    if interface == POSITION:
        values[0], clamped = joints.clamp(indices, values[0], out_of_limits)
    return JointCommand(joints=indices, values=values, clamped=clamped)
