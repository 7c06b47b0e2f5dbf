"""A robot of three joints that follows trajectories, and what became of its goals."""

from typing import Any

from commanded_robot import CommandedRobot, points, some_joints

from mujoco_ros.control.events import GoalEnded, Outcome
from mujoco_ros.control.trajectory.trajectory import PointArrays

NAMES = ("a", "b", "c")
STEP = 0.004


def robot(**options: Any) -> CommandedRobot:
    """Return the robot, with a timestep of `STEP`."""
    return CommandedRobot(some_joints(NAMES), **{"timestep": STEP} | options)


def line(to: float, seconds: float = 1.0, joints: int = 1) -> PointArrays:
    """Return a trajectory of one point with zero velocity."""
    return points([seconds], [[to] * joints], [[0.0] * joints])


def ended(commanded: CommandedRobot) -> list[tuple[object, Outcome]]:
    """Return the goals that have ended, with their outcomes."""
    return [(event.goal, event.outcome) for event in commanded.events_of(GoalEnded)]
