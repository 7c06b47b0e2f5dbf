"""Values between a controller and clients: commands and goals in, estimates and drawings out."""

from collections.abc import Callable
from math import isfinite
from typing import NamedTuple

import numpy as np

from mujoco_ros.controllers.interface.observation import BaseReading
from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.model.errors import UserInputError

_NEWER_S = 0.1
"""Time by which a command may be newer than a tick [s]; after a reset it is newer by more."""
_LONGEST_S = 1.0  # time for which a goal waits to be taken [s]


class BodyVelocity(NamedTuple):
    """Velocity along the axes of the base: forwards, to the left [m/s], turning left [rad/s]."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether the robot shall stand."""
        return not any(self)


class VelocityInput:
    """The velocity that a client commands last; all methods belong to the controller's thread."""

    def __init__(self) -> None:
        self._velocity: BodyVelocity | None = None
        self._since = 0.0

    def receive(self, velocity: BodyVelocity, time: float) -> None:
        """Take a command received at a robot's time [s]; UserInputError if it is not finite."""
        _check_finite("velocity", velocity)
        self._velocity, self._since = velocity, time

    def read(self, time: float, timeout: float) -> BodyVelocity | None:
        """Return the command at the time of a tick; None without one, or after `timeout` [s]."""
        if not -_NEWER_S <= time - self._since <= timeout:
            self._velocity = None
        return self._velocity


VELOCITY_INPUT: Key[VelocityInput] = Key("velocity/input", VelocityInput)
"""Commanded velocity of a walking or driving robot; a host without clients lacks it."""


class PlanarPose(NamedTuple):
    """A pose on the ground [m, rad]."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0


class PlanarGoal(NamedTuple):
    """Where a robot shall go, in the frame of the odometry, or of the base if `is_relative`."""

    pose: PlanarPose
    is_relative: bool = False


class GoalInput:
    """The goal that a client sends last; all methods belong to the controller's thread."""

    def __init__(self) -> None:
        self._goal: PlanarGoal | None = None
        self._since = 0.0

    def receive(self, goal: PlanarGoal, time: float) -> None:
        """Take a goal received at a time of the robot [s]; UserInputError if it is not finite."""
        _check_finite("goal", goal.pose)
        self._goal, self._since = goal, time

    def take(self, time: float) -> PlanarGoal | None:
        """Return the goal once, at the time of a tick [s]; None without one, or of before a reset.

        A goal that no state takes within a second is forgotten.
        """
        goal, self._goal = self._goal, None
        return goal if -_NEWER_S <= time - self._since <= _LONGEST_S else None


GOAL_INPUT: Key[GoalInput] = Key("goal/input", GoalInput)
"""Goal of a walking or driving robot; a host without clients lacks it."""


def _check_finite(name: str, values: BodyVelocity | PlanarPose) -> None:
    """Reject a command whose components are not all finite numbers; `name` begins the error."""
    for axis, value in values._asdict().items():
        if not isfinite(value):
            raise UserInputError(f"{name} {axis} must be a finite number, got {value}")


Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity in 0..1."""


class DrawnLine(NamedTuple):
    """A line through points (n, 3) in the frame of the base [m]; `name` is its namespace."""

    name: str
    points: np.ndarray
    colour: Colour
    width: float = 0.006


class DrawnPoint(NamedTuple):
    """A point at a position (3,) in the frame of the base [m]; `name` is its namespace."""

    name: str
    position: np.ndarray
    colour: Colour
    diameter: float = 0.03


class Drawing(NamedTuple):
    """What a controller displays at a tick."""

    lines: tuple[DrawnLine, ...]
    points: tuple[DrawnPoint, ...]


ESTIMATED_BASE: Key[BaseReading] = Key("base/estimated", BaseReading)
"""Estimate of the floating base at the last tick."""
DRAW: Key[Callable[[], Drawing]] = Key("drawing/draw")
"""Function that returns the `Drawing` of the last tick; called only while it is displayed."""
