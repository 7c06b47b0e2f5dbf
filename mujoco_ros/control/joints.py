"""Joints of a robot: command interfaces, limits and errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mujoco_ros.control.errors import CommandError, JointError
from mujoco_ros.control.modes import INTERFACES
from mujoco_ros.control.settings import OutOfLimits
from mujoco_ros.model.errors import unknown

LARGEST = 1e9
"""Largest accepted position, velocity, acceleration or effort."""
_SLACK = 1e-3
"""Simulated limits are soft and described ones rounded: a command that holds a joint at its limit
exceeds the limit by up to this [rad or m]."""


@dataclass(frozen=True)
class Clamped:
    """Number of positions of a command that were clamped to the limits, and a message."""

    count: int = 0
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class ControlledJoints:
    """A robot's scalar joints in model order.

    Attributes:
        names: ROS names.
        interfaces: Command interfaces of each joint: ``position``, ``velocity``, ``effort``.
        lower: Smallest position [rad or m], -inf where unlimited.  # (n,)
        upper: Largest position [rad or m], inf where unlimited.  # (n,)
        continuous: Whether the joint is continuous: full turns are equivalent.  # (n,) bool
        gripper: Index of the gripper controller's joint, None without one.
    """

    names: tuple[str, ...]
    interfaces: tuple[frozenset[str], ...]
    lower: np.ndarray
    upper: np.ndarray
    continuous: np.ndarray
    gripper: int | None = None

    def with_interface(self, interface: str) -> tuple[int, ...]:
        """Return the joints that have the command `interface`, without the gripper's."""
        return tuple(
            i for i, has in enumerate(self.interfaces) if interface in has and i != self.gripper
        )

    def find(self, names: Sequence[str], among: Iterable[int] | None = None) -> np.ndarray:
        """Return the indices of joints by name, of all or `among` some indices.

        Raises:
            JointError: A name is unknown, not among them, or duplicate.
        """
        choices = range(len(self.names)) if among is None else among
        index = {self.names[i]: i for i in choices}
        for name in names:
            if name not in index:
                if name in self.names:
                    joint = self.names.index(name)
                    if joint == self.gripper:
                        reason = "belongs to the gripper controller"
                    else:
                        reason = self.describe(joint)
                    raise JointError(f"joint '{name}' {reason}; choose from: {', '.join(index)}")
                raise JointError(str(unknown("joint", name, index)))
        if len(set(names)) < len(names):
            duplicate = next(name for i, name in enumerate(names) if name in names[:i])
            raise JointError(f"joint '{duplicate}' is named twice")
        return np.array([index[name] for name in names], dtype=np.intp)

    def describe(self, joint: int) -> str:
        """Return the predicate of a sentence about a joint's command interfaces."""
        has = [interface for interface in INTERFACES if interface in self.interfaces[joint]]
        if not has:
            return "is passive: it takes no commands"
        return f"takes {' and '.join(has)} only" if len(has) < 3 else "takes any command"

    def check_interface(self, joints: np.ndarray, interface: str, given: np.ndarray) -> None:
        """Reject `given` values (k,) bool of `joints` (k,) without the command `interface`.

        Raises:
            JointError: A joint with a value lacks the interface.
        """
        for joint in joints[given]:
            if interface not in self.interfaces[joint]:
                name, reason = self.names[joint], self.describe(int(joint))
                raise JointError(f"joint '{name}' takes no {interface}: it {reason}")

    def error(self, desired: np.ndarray, actual: np.ndarray) -> np.ndarray:
        """Return desired minus actual positions and velocities, without full turns.  # (2, n)."""
        error: np.ndarray = desired - actual
        if self._any_continuous:
            wrapped = np.remainder(error[0] + np.pi, 2 * np.pi) - np.pi
            np.copyto(error[0], wrapped, where=self.continuous)
        return error

    @cached_property
    def _any_continuous(self) -> bool:
        return bool(self.continuous.any())

    def clamp(
        self, joints: np.ndarray, positions: np.ndarray, out_of_limits: OutOfLimits
    ) -> tuple[np.ndarray, Clamped]:
        """Return positions clamped to the limits, and a description of the clamped ones.

        Args:
            joints: Indices of the joints.  # (k,)
            positions: Positions, NaN where there is none.  # (..., k)
            out_of_limits: Whether positions beyond the limits are clamped or rejected.

        Raises:
            CommandError: A position is beyond the limits and `out_of_limits` is ``refuse``.
        """
        lower, upper = self.lower[joints], self.upper[joints]
        if not ((positions < lower) | (positions > upper)).any():
            return positions, Clamped()
        outside = (positions < lower - _SLACK) | (positions > upper + _SLACK)
        count = int(np.count_nonzero(outside))
        within = np.clip(positions, lower, upper)
        if not count:
            return within, Clamped()
        *_, column = np.argwhere(outside)[0]
        first = f"position {positions[outside][0]:g} of joint '{self.names[joints[column]]}'"
        limits = f"its limits [{lower[column]:g}, {upper[column]:g}]"
        if out_of_limits == "refuse":
            raise CommandError(f"{first} is outside {limits}")
        more = f", and {count - 1} more" if count > 1 else ""
        return within, Clamped(count, f"{first} was clamped to {limits}{more}")


def check_numbers(values: np.ndarray, quantity: str, names: Sequence[str], *, nan: bool) -> None:
    """Reject non-finite and excessive values (..., k); NaN is valid if `nan`, as "unchanged".

    Raises:
        CommandError: A value is invalid; the message has the `quantity` and one of the k `names`.
    """
    valid = np.abs(values) <= LARGEST
    if nan:
        valid |= np.isnan(values)
    if valid.all():
        return
    *_, column = np.argwhere(~valid)[0]
    value = values[~valid][0]
    expected = "a finite number" if not np.isfinite(value) else f"within ±{LARGEST:g}"
    raise CommandError(f"{quantity} of joint '{names[column]}' is {value:g}; it must be {expected}")
