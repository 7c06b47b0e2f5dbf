"""What those who command joints have to be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np

from mujoco_ros.control.gains import Gains


class CommandSource(StrEnum):
    """Who holds a joint; the values are the names of topics and controllers."""

    NOBODY = "nobody"
    TRAJECTORY = "joint_trajectory_controller"
    JOINT_COMMANDS = "joint_commands"
    POSITION = "position_controller"
    VELOCITY = "velocity_controller"
    EFFORT = "effort_controller"
    GRIPPER = "gripper_controller"
    CONTROLLER = "controller"


class Outcome(IntEnum):
    """How a goal ended; the negative ones are error codes of FollowJointTrajectory."""

    CANCELED = 1
    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalStarted:
    """The robot began to act on a goal."""

    goal: object


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalEnded:
    """A goal was reached, or given up.

    Attributes:
        goal: What it was started with.
        outcome: How it ended.
        message: Why, in words.
        position: Position of the gripper [m or rad].
        effort: Effort of the gripper [N or Nm].
        stalled: Whether the gripper was stopped by something.
    """

    goal: object
    outcome: Outcome
    message: str
    position: float = 0.0
    effort: float = 0.0
    stalled: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalProgress:
    """Where a goal stands.

    Attributes:
        goal: What it was started with.
        time: Simulated time [s].
        since_start: Time since the trajectory's start [s].
        index: Number of the next waypoint.
        desired: References: position, velocity, acceleration.  # (3, n)
        actual: Position, velocity.  # (2, n)
        effort: Effort of the gripper [N or Nm].
    """

    goal: object
    time: float
    since_start: float
    index: int
    desired: np.ndarray
    actual: np.ndarray
    effort: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandPreempted:
    """Joints that someone held are held by someone else now.

    Attributes:
        robot: The robot's namespace.
        was_done: Whether the loser had nothing left to do with them.
    """

    loser: CommandSource
    taker: CommandSource
    joints: tuple[str, ...]
    robot: str = ""
    was_done: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamStopped:
    """A stream of commands fell silent for longer than it may.

    Attributes:
        robot: The robot's namespace.
    """

    source: CommandSource
    joints: tuple[str, ...]
    timeout: float
    action: str
    robot: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRejected:
    """A command that looked right turned out to be impossible.

    Attributes:
        robot: The robot's namespace.
    """

    source: CommandSource
    message: str
    robot: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandFailed:
    """A command raised an error that nobody expected; its goal, if any, is not pursued."""

    topic: str
    message: str
    goal: object | None


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandDropped:
    """A command came at a time at which it means nothing; its goal, if any, is not pursued."""

    topic: str
    message: str
    goal: object | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationReset:
    """The simulation was reset.

    Attributes:
        time: Its time now [s].
        gain_changes: How often gains had been changed by then, since the start.
        before: Its time before [s].
        state: Whether its state was reset; otherwise the time alone was set.
        gains: The gains of each robot now, by what identifies it; without, the configured ones.
    """

    time: float
    gain_changes: int
    before: float = 0.0
    state: bool = True
    gains: Mapping[object, Gains] | None = field(default=None, compare=False)


Event = (
    GoalStarted
    | GoalEnded
    | GoalProgress
    | CommandPreempted
    | StreamStopped
    | CommandRejected
    | CommandFailed
    | CommandDropped
    | SimulationReset
)
