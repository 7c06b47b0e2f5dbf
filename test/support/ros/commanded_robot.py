"""A robot control without a simulator, with joint positions set by the test."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from mujoco_ros.control.events import CommandSource, Event
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.joints import INTERFACES, ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import OutOfLimits, TrajectorySettings
from mujoco_ros.control.trajectory.trajectory import (
    PointArrays,
    Trajectory,
    hold_trajectory,
    tolerances,
    trajectory,
)


@dataclass(frozen=True, kw_only=True)
class JointTolerance:
    """A tolerance of a joint, as in messages."""

    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


E = TypeVar("E", bound=Event)
Rows = Sequence[Sequence[float] | None] | np.ndarray

ALL = frozenset(INTERFACES)


def some_joints(
    names: Sequence[str] = ("a", "b", "c"),
    *,
    interfaces: Mapping[str, Sequence[str]] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    continuous: Sequence[str] = (),
    gripper: str | None = None,
) -> ControlledJoints:
    """Joints with all command interfaces and without limits by default."""
    interfaces, limits = interfaces or {}, limits or {}
    return ControlledJoints(
        names=tuple(names),
        interfaces=tuple(frozenset(interfaces.get(name, ALL)) for name in names),
        lower=np.array([limits.get(name, (-np.inf, np.inf))[0] for name in names]),
        upper=np.array([limits.get(name, (-np.inf, np.inf))[1] for name in names]),
        continuous=np.array([name in continuous for name in names]),
        gripper=None if gripper is None else list(names).index(gripper),
    )


def trajectory_settings(joints: ControlledJoints, **changes: Any) -> TrajectorySettings:
    """Settings without tolerances, but for `changes`."""
    nothing = np.zeros(len(joints.names))
    return TrajectorySettings(**{"trajectory": nothing, "goal": nothing} | changes)


def points(
    times: Sequence[float],
    q: Rows | None,
    dq: Rows | None = None,
    ddq: Rows | None = None,
    tau: Rows | None = None,
) -> PointArrays:
    """Points of a trajectory; a point lacks the fields whose row is None."""
    fields = [[] if field is None else field for field in (q, dq, ddq, tau)]
    width = next(len(row) for field in fields for row in field if row is not None)
    values = np.zeros((4, len(times), width))
    given = np.zeros((4, len(times)), dtype=bool)
    for i, field in enumerate(fields):
        for k, row in enumerate(field):
            if row is not None:
                values[i, k], given[i, k] = row, True
    return PointArrays(times=np.array(times, dtype=float), values=values, given=given)


class CommandedRobot:
    """A RobotControl that is stepped; its joints equal their references at once.

    Attributes:
        measure: Returns other positions and velocities (2, n) at a time.
    """

    def __init__(
        self,
        joints: ControlledJoints,
        *,
        q: Sequence[float] | None = None,
        timestep: float = 0.001,
        step: int = 0,
        out_of_limits: OutOfLimits = "clamp",
    ) -> None:
        count = len(joints.names)
        self.joints = joints
        self.events: list[Event] = []
        self.effort_limits: list[tuple[int, float]] = []
        self.references = References.holding(np.array(q or np.zeros(count), dtype=float))
        self.control = RobotControl(
            joints,
            self.references,
            timestep,
            self.events.append,
            lambda joint, effort: self.effort_limits.append((joint, effort)),
        )
        self.timestep = timestep
        self.index = step
        self.out_of_limits: OutOfLimits = out_of_limits
        self.measure: Callable[[float], np.ndarray] | None = None

    @property
    def time(self) -> float:
        """Simulated time of the next step."""
        return self.index * self.timestep

    def step(self) -> np.ndarray:
        """Take a step and return its references (3, n)."""
        control = self.control
        measured = self.references.values[:2] if self.measure is None else self.measure(self.time)
        control.q[:], control.dq[:] = measured
        if control.active:
            control.update(self.time)
        self.index += 1
        return self.references.values.copy()

    def run(self, seconds: float) -> np.ndarray:
        """Take steps and return the references of each (steps, 3, n)."""
        return np.array([self.step() for _ in range(round(seconds / self.timestep))])

    def configure(self, **changes: Any) -> None:
        """Change settings of the trajectory controller."""
        self.control.trajectory.settings = trajectory_settings(self.joints, **changes)

    def check(
        self,
        names: Sequence[str],
        arrays: PointArrays,
        start: float | None = None,
        *,
        upsampled: bool = False,
    ) -> Trajectory:
        """Return a checked trajectory."""
        settings = self.control.trajectory.settings
        return trajectory(
            self.joints, settings, self.out_of_limits, names, start, arrays, upsampled=upsampled
        )

    def follow(
        self,
        names: Sequence[str],
        arrays: PointArrays,
        *,
        start: float | None = None,
        goal: object | None = None,
        path: Sequence[JointTolerance] = (),
        at_goal: Sequence[JointTolerance] = (),
        goal_time: float = 0.0,
        upsampled: bool = False,
    ) -> Trajectory:
        """Follow a trajectory from the next step on."""
        checked = self.check(names, arrays, start, upsampled=upsampled)
        settings = self.control.trajectory.settings
        allowed = tolerances(self.joints, settings, checked.joints, path, at_goal, goal_time)
        self.control.follow(replace(checked, tolerances=allowed, goal=goal), self.time)
        return checked

    def hold(self, names: Sequence[str] = (), goal: object | None = None) -> None:
        """Stop joints, or all, as a trajectory without points does."""
        empty = hold_trajectory(self.joints, names)
        self.control.follow(replace(empty, goal=goal), self.time)

    def send(
        self, source: CommandSource = CommandSource.JOINT_COMMANDS, **fields: Mapping[str, float]
    ) -> None:
        """Send a streamed command: ``position={"a": 1.0}`` and so on."""
        names = sorted({name for field in fields.values() for name in field})
        rows = [
            [fields[what].get(name, np.nan) for name in names] if what in fields else []
            for what in INTERFACES
        ]
        command = joint_command(self.joints, self.out_of_limits, names, rows)
        self.control.command(source, command, self.time)

    def events_of(self, kind: type[E]) -> list[E]:
        """Return the events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]
