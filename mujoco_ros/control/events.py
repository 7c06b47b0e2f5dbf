"""Events of command arbitration and of goals, and the reasons of rejections."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

import numpy as np

from mujoco_ros.control.gains import Gains


class CommandError(ValueError):
    """An invalid command, none of which was applied; the message names the joint or the point."""


class JointError(CommandError):
    """The command names joints that do not exist or that lack the command interface."""


class LateError(CommandError):
    """The trajectory ends before its execution can start."""


class QueueFullError(RuntimeError):
    """The physics thread does not keep up with its commands, or has ended."""


class CommandSource(StrEnum):
    """Sources of commands, named as topics and controllers; ACTUATORS owns no joint."""

    UNCLAIMED = "unclaimed"
    TRAJECTORY = "joint_trajectory_controller"
    JOINT_COMMANDS = "joint_commands"
    POSITION = "position_controller"
    VELOCITY = "velocity_controller"
    EFFORT = "effort_controller"
    GRIPPER = "gripper_controller"
    CARTESIAN = "cartesian_controller"
    CONTROLLER = "controller"
    MANAGED = "controller_manager"
    ACTUATORS = "actuator_commands"


class Outcome(IntEnum):
    """Outcome of a goal; the negative values are error codes of FollowJointTrajectory."""

    CANCELED = 1
    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class ActionGoal:
    """A goal of an action client, which the events of its execution carry."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalStarted:
    """Execution of a goal started."""

    goal: ActionGoal


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalEnded:
    """Execution of a goal ended; position [m or rad] and effort [N or Nm] are a gripper's."""

    goal: ActionGoal
    outcome: Outcome
    message: str
    position: float = 0.0
    effort: float = 0.0
    stalled: bool = False  # whether the gripper stalled on an obstacle or an object


@dataclass(frozen=True, kw_only=True, slots=True)
class GoalProgress:
    """Feedback of a goal; the effort [N or Nm] is a gripper's."""

    goal: ActionGoal
    time: float  # simulated time [s]
    since_start: float  # time since the trajectory's start [s]
    index: int  # index of the next waypoint
    desired: np.ndarray  # references: position, velocity, acceleration (3, n)
    actual: np.ndarray  # position, velocity (2, n)
    effort: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RobotEvent:
    """An event of a source of commands of a robot, or of a controller by its name."""

    source: str
    robot: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRejected(RobotEvent):
    """A valid command could not be executed."""

    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class JointEvent(RobotEvent):
    """An event of some joints of a robot."""

    joints: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandPreempted(JointEvent):
    """Joints have a new owner; the source is the preempted one."""

    new_owner: CommandSource
    was_idle: bool = False  # whether the preempted source had completed its command
    controller: str = ""  # name of the controller, if that is one of the sources


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamStopped(JointEvent):
    """A stream sent no command within the timeout [s of simulated time]; `action`: hold or damp."""

    timeout: float
    action: str


@dataclass(frozen=True, kw_only=True, slots=True)
class JointsHeld(JointEvent):
    """Joints stay at the state of a reset against a source that ran at the reset."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandHeld(JointEvent):
    """The first command of a source against which joints are held is far from their state."""

    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HoldEnded(JointEvent):
    """A source whose commands were held back moves the joints again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandDropped:
    """A command was not applied: it became obsolete, or failed with an unexpected error."""

    topic: str
    message: str
    kind: str = "dropped"  # "dropped" or "failed"
    goal: ActionGoal | None = None  # its goal, which is not executed


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulationReset:
    """The simulation was reset."""

    time: float  # simulated time after the reset [s]
    gain_changes: int  # number of changes of gains since the start
    before: float = 0.0  # simulated time before the reset [s]
    state: bool = True  # whether the state was reset; otherwise only the time
    # Gains after the reset by robot; None if the state stayed
    gains: Mapping[object, Gains] | None = field(default=None, compare=False)


Event = GoalStarted | GoalEnded | GoalProgress | RobotEvent | CommandDropped | SimulationReset
