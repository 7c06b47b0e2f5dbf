"""Joints of a robot: command interfaces, limits and errors, and what a gripper moves."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Protocol

import numpy as np

from mujoco_ros.control.events import CommandError, JointError
from mujoco_ros.control.references import References
from mujoco_ros.control.settings import OutOfLimits
from mujoco_ros.model.errors import unknown


class Mode(StrEnum):
    """Meaning of an actuator's control input for its joint."""

    PD = "pd"
    POSITION = "position"
    VELOCITY = "velocity"
    EFFORT = "effort"


POSITION, VELOCITY, EFFORT = "position", "velocity", "effort"
INTERFACES = (POSITION, VELOCITY, EFFORT)
"""Quantities of a command, named as ros2_control's command interfaces."""

_INTERFACES_OF_MODES = {
    Mode.PD: frozenset(INTERFACES),
    Mode.POSITION: frozenset({POSITION}),
    Mode.VELOCITY: frozenset({VELOCITY}),
    Mode.EFFORT: frozenset({EFFORT}),
}


def command_interfaces(modes: tuple[Mode, ...]) -> frozenset[str]:
    """Return the command interfaces of a joint whose inputs have `modes`; none if it is passive."""
    return frozenset().union(*(_INTERFACES_OF_MODES[mode] for mode in modes))


@dataclass(frozen=True, kw_only=True)
class GripperTendon:
    """A tendon that the gripper controller moves by the position servos on it."""

    name: str  # name of the tendon
    actuators: tuple[str, ...]  # names of its position servos
    joints: np.ndarray  # indices of the robot's joints that change its length (k,)
    # Smallest and largest position [m, or rad over hinge joints], infinite where unlimited (2,)
    limits: np.ndarray
    is_angle: bool  # whether its position is an angle [rad]


class GripperServo(Protocol):
    """The servo of a gripper."""

    def reference(self) -> float:
        """Return the commanded position [m or rad]."""

    def set_reference(self, position: float) -> None:
        """Command a position [m or rad]."""

    def measured(self) -> tuple[float, float, float]:
        """Return position [m or rad], velocity and effort [N or Nm]."""

    def limit_effort(self, effort: float) -> None:
        """Limit the effort [N or Nm]; 0 restores the limit of the actuators."""


class _Robot(Protocol):
    references: References
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray
    limit_effort: Callable[[int, float], None]


class JointServo:
    """The servo of a gripper's joint, which follows the reference of the joint."""

    def __init__(self, robot: _Robot, joint: int) -> None:
        """Move the joint with an index; the attributes of `robot` may be replaced."""
        self._robot, self._joint = robot, joint

    def reference(self) -> float:
        """Return the position reference of the joint [m or rad]."""
        return float(self._robot.references.q[self._joint])

    def set_reference(self, position: float) -> None:
        """Set the position reference of the joint [m or rad]."""
        self._robot.references.q[self._joint] = position

    def measured(self) -> tuple[float, float, float]:
        """Return position [m or rad], velocity and effort [N or Nm] of the joint."""
        robot, i = self._robot, self._joint
        return float(robot.q[i]), float(robot.dq[i]), float(robot.effort[i])

    def limit_effort(self, effort: float) -> None:
        """Limit the effort of the joint [N or Nm]; 0 restores the limit of the actuators."""
        self._robot.limit_effort(self._joint, effort)


_AT_REST = 0.001
"""The default of ros2_controllers [m/s or rad/s]."""
_SHARE_AT_REST = 0.025
"""Share of the range of a gripper [1/s]: 1 mm/s of 40 mm, 0.02 rad/s of 0.8 rad."""
LARGEST = 1e9
"""Largest accepted position, velocity, acceleration or effort."""
JOINT_LIMIT_SLACK = 1e-3
"""Simulated limits are soft and described ones rounded: a command that holds a joint at its limit
exceeds the limit by up to this [rad or m]."""
_OF_GRIPPER = "belongs to the gripper controller"


@dataclass(frozen=True)
class Clamped:
    """Number of positions of a command that were clamped to the limits, and a message."""

    count: int = 0
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class ControlledJoints:
    """A robot's scalar joints in model order."""

    names: tuple[str, ...]  # ROS names
    # Command interfaces of each joint: ``position``, ``velocity``, ``effort``
    interfaces: tuple[frozenset[str], ...]
    lower: np.ndarray  # smallest position [rad or m], -inf where unlimited (n,)
    upper: np.ndarray  # largest position [rad or m], inf where unlimited (n,)
    continuous: np.ndarray  # whether the joint is continuous: full turns are equivalent (n,) bool
    gripper: int | None = None  # index of the gripper controller's joint, None without one
    # Tendon that the gripper controller moves instead of a joint
    tendon: GripperTendon | None = None
    # Names of the actuators that move a joint without command interfaces, by its index
    moved_by: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    controller: str = ""  # name of the controller to which those with interfaces belong, if any

    @property
    def has_gripper(self) -> bool:
        """Whether there is a gripper controller."""
        return self.gripper is not None or self.tendon is not None

    @property
    def gripper_name(self) -> str:
        """Name of the gripper's joint or tendon; empty without a gripper."""
        if self.gripper is not None:
            return self.names[self.gripper]
        return "" if self.tendon is None else self.tendon.name

    @cached_property
    def gripper_joints(self) -> np.ndarray:
        """Indices of the joints that the gripper controller owns while it moves.  # (k,)"""
        if self.tendon is not None:
            return self.tendon.joints
        own = () if self.gripper is None else (self.gripper,)
        return np.array(own, dtype=np.intp)

    @cached_property
    def position_only(self) -> np.ndarray:
        """Which joints take positions, but no velocities.  # (n,) bool."""
        only = [POSITION in has and VELOCITY not in has for has in self.interfaces]
        return np.array(only, dtype=bool)

    def with_interface(self, interface: str) -> tuple[int, ...]:
        """Return the joints that have the command `interface`, without the gripper's."""
        return tuple(
            i for i, has in enumerate(self.interfaces) if interface in has and i != self.gripper
        )

    def find(self, names: Sequence[str], among: Iterable[int] | None = None) -> np.ndarray:
        """Return the indices of different joints by name, of all or `among` some indices."""
        choices = range(len(self.names)) if among is None else among
        index = {self.names[i]: i for i in choices}
        for name in names:
            if name not in index:
                if name in self.names:
                    joint = self.names.index(name)
                    own = joint == self.gripper
                    reason = _OF_GRIPPER if own else self.describe(joint)
                    raise JointError(f"joint '{name}' {reason}; choose from: {', '.join(index)}")
                raise JointError(str(unknown("joint", name, index)))
        if len(set(names)) < len(names):
            duplicate = next(name for i, name in enumerate(names) if name in names[:i])
            raise JointError(f"joint '{duplicate}' is named twice")
        return np.array([index[name] for name in names], dtype=np.intp)

    def describe(self, joint: int) -> str:
        """Return the predicate of a sentence about a joint's command interfaces."""
        has = [interface for interface in INTERFACES if interface in self.interfaces[joint]]
        if not has and joint in self.gripper_joints:
            return _OF_GRIPPER
        if not has and joint in self.moved_by:
            names = ", ".join(f"'{name}'" for name in self.moved_by[joint])
            return f"takes no commands; {names} on the topic actuator_commands moves it"
        if not has and self.controller:
            return f"does not belong to '{self.controller}'"
        if not has:
            return "is passive: it takes no commands"
        return f"takes {' and '.join(has)} only" if len(has) < 3 else "takes any command"

    def check_interface(self, joints: np.ndarray, interface: str, given: np.ndarray) -> None:
        """Reject `given` values (k,) bool of `joints` (k,) without the command `interface`."""
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
        """Return positions clamped to the limits of `joints` (k,), and which ones were clamped.

        Positions (..., k) are NaN where there is none. With ``refuse``, none may be beyond the
        limits.
        """
        lower, upper = self.lower[joints], self.upper[joints]

        def name(column: int) -> str:
            return f"joint '{self.names[joints[column]]}'"

        return clamp_to_limits(positions, lower, upper, name, out_of_limits)

    @property
    def gripper_speed_at_rest(self) -> float:
        """Return the mean speed up to which the gripper counts as stopped [m/s or rad/s].

        Grippers creep in a grip by a share of their range, which is infinite without limits.
        """
        if self.tendon is not None:
            reach = float(np.ptp(self.tendon.limits))
        else:
            (joint,) = self.gripper_joints
            reach = float(self.upper[joint] - self.lower[joint])
        return max(_AT_REST, _SHARE_AT_REST * reach) if np.isfinite(reach) else _AT_REST

    def clamp_gripper(self, position: float, out_of_limits: OutOfLimits) -> tuple[float, Clamped]:
        """Return a position of the gripper [m or rad] clamped to its limits, as `clamp` does."""
        tendon, goal = self.tendon, np.array([position])
        if tendon is None:
            goal, clamped = self.clamp(self.gripper_joints, goal, out_of_limits)
        else:
            lower, upper = tendon.limits[:1], tendon.limits[1:]
            name = f"tendon '{tendon.name}'"
            goal, clamped = clamp_to_limits(goal, lower, upper, lambda _: name, out_of_limits)
        return float(goal[0]), clamped


def clamp_to_limits(
    positions: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    name: Callable[[int], str],
    out_of_limits: OutOfLimits,
) -> tuple[np.ndarray, Clamped]:
    """Return positions (..., k) clamped to limits (k,); `name` names a column."""
    if not ((positions < lower) | (positions > upper)).any():
        return positions, Clamped()
    outside = (positions < lower - JOINT_LIMIT_SLACK) | (positions > upper + JOINT_LIMIT_SLACK)
    count = int(np.count_nonzero(outside))
    within = np.clip(positions, lower, upper)
    if not count:
        return within, Clamped()
    *_, column = np.argwhere(outside)[0]
    first = f"position {positions[outside][0]:g} of {name(int(column))}"
    limits = f"its limits [{lower[column]:g}, {upper[column]:g}]"
    if out_of_limits == "refuse":
        raise CommandError(f"{first} is outside {limits}")
    more = f", and {count - 1} more" if count > 1 else ""
    return within, Clamped(count, f"{first} was clamped to {limits}{more}")


def check_numbers(
    values: np.ndarray, quantity: str, names: Sequence[str], *, nan: bool, kind: str = "joint"
) -> None:
    """Reject non-finite and excessive values (..., k); NaN is valid if `nan`, as "unchanged"."""
    valid = np.abs(values) <= LARGEST
    if nan:
        valid |= np.isnan(values)
    if valid.all():
        return
    *_, column = np.argwhere(~valid)[0]
    value = values[~valid][0]
    expected = "a finite number" if not np.isfinite(value) else f"within ±{LARGEST:g}"
    what = f"{quantity} of {kind} '{names[column]}'"
    raise CommandError(f"{what} is {value:g}; it must be {expected}")
