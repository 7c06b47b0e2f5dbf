"""The joints of a robot as those who command them see them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mujoco_ros.control.errors import CommandError, JointError
from mujoco_ros.control.modes import INTERFACES
from mujoco_ros.control.settings import OutOfLimits
from mujoco_ros.model.errors import unknown

LARGEST = 1e9
"""Beyond this no position, velocity, acceleration or effort is meant seriously."""
# Simulated limits are soft, and written ones rounded: who holds a joint where it is, at its stop,
# commands a position that is beyond by as little [rad or m].
_SLACK = 1e-3


@dataclass(frozen=True)
class Clamped:
    """How many positions of a command were moved into the joints' limits, and which."""

    count: int = 0
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class ControlledJoints:
    """A robot's scalar joints in model order.

    Attributes:
        names: Names as ROS knows them.
        takes: Of each joint, which of ``position``, ``velocity`` and ``effort`` it takes.
        lower: Smallest position [rad or m], -inf where unlimited.  # (n,)
        upper: Largest position [rad or m], inf where unlimited.  # (n,)
        continuous: Whether it turns without end, so that full turns do not matter.  # (n,) bool
        gripper: Index of the joint that the gripper controller serves, None without one.
    """

    names: tuple[str, ...]
    takes: tuple[frozenset[str], ...]
    lower: np.ndarray
    upper: np.ndarray
    continuous: np.ndarray
    gripper: int | None = None

    def taking(self, interface: str) -> tuple[int, ...]:
        """Return the joints, but for the gripper's, that take `interface`."""
        return tuple(
            i for i, takes in enumerate(self.takes) if interface in takes and i != self.gripper
        )

    def find(self, names: Sequence[str], among: Iterable[int] | None = None) -> np.ndarray:
        """Return the indices of joints given by name.

        Args:
            names: Their names, each once.
            among: The joints to choose from; None for all.

        Raises:
            JointError: A name is unknown, or given twice.
        """
        choices = range(len(self.names)) if among is None else among
        index = {self.names[i]: i for i in choices}
        for name in names:
            if name not in index:
                if name in self.names:
                    joint = self.names.index(name)
                    grips = joint == self.gripper
                    why = "belongs to the gripper controller" if grips else self.what(joint)
                    raise JointError(f"joint '{name}' {why}; choose from: {', '.join(index)}")
                raise JointError(str(unknown("joint", name, index)))
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise JointError(f"joint '{twice}' is named twice")
        return np.array([index[name] for name in names], dtype=np.intp)

    def what(self, joint: int) -> str:
        """Say what a joint can be commanded with."""
        takes = [interface for interface in INTERFACES if interface in self.takes[joint]]
        if not takes:
            return "is passive: it takes no commands"
        return f"takes {' and '.join(takes)} only" if len(takes) < 3 else "takes any command"

    def check_takes(self, joints: np.ndarray, interface: str, given: np.ndarray) -> None:
        """Refuse what is `given` (bool, over `joints`) if a joint does not take `interface`.

        Raises:
            JointError: It does not.
        """
        for joint in joints[given]:
            if interface not in self.takes[joint]:
                raise JointError(
                    f"joint '{self.names[joint]}' takes no {interface}: it {self.what(int(joint))}"
                )

    def error(self, desired: np.ndarray, actual: np.ndarray) -> np.ndarray:
        """Return desired minus actual positions and velocities; full turns do not count.

        Args:
            desired: Positions and velocities.  # (2, n)
            actual: Positions and velocities.  # (2, n)
        """
        error: np.ndarray = desired - actual
        if self._any_continuous:
            wrapped = np.remainder(error[0] + np.pi, 2 * np.pi) - np.pi
            np.copyto(error[0], wrapped, where=self.continuous)
        return error

    @cached_property
    def _any_continuous(self) -> bool:
        return bool(self.continuous.any())

    def limited(
        self, joints: np.ndarray, positions: np.ndarray, out_of_limits: OutOfLimits
    ) -> tuple[np.ndarray, Clamped]:
        """Return positions within the limits of `joints`, and what was clearly outside.

        Args:
            joints: The joints.  # (k,)
            positions: Their positions, NaN where there is none.  # (..., k)
            out_of_limits: Whether to clamp what is outside, or to refuse it.

        Raises:
            CommandError: A position is outside, and is to be refused.
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


def check_numbers(values: np.ndarray, what: str, names: Sequence[str], *, nan: bool) -> None:
    """Refuse what is no number, or absurdly large.

    Args:
        values: The values.  # (..., k)
        what: What they are, for the message.
        names: Names of the k joints.
        nan: Whether NaN is allowed, as "leave as it is".

    Raises:
        CommandError: A value is wrong.
    """
    good = np.abs(values) <= LARGEST
    if nan:
        good |= np.isnan(values)
    if good.all():
        return
    *_, column = np.argwhere(~good)[0]
    value = values[~good][0]
    wanted = "a finite number" if not np.isfinite(value) else f"within ±{LARGEST:g}"
    raise CommandError(f"{what} of joint '{names[column]}' is {value:g}; it must be {wanted}")
