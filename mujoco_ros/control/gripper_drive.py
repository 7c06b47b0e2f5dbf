"""What a gripper controller moves: a joint, or a tendon over several joints."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mujoco_ros.control.references import References


@dataclass(frozen=True, kw_only=True)
class GripperTendon:
    """A tendon that the gripper controller moves by the position servos on it.

    Attributes:
        name: Name of the tendon.
        actuators: Names of its position servos.
        joints: Indices of the robot's joints that change its length.  # (k,)
        lower: Smallest position [m, or rad over hinge joints], -inf where unlimited.
        upper: Largest position, inf where unlimited.
        is_angle: Whether its position is an angle [rad].
    """

    name: str
    actuators: tuple[str, ...]
    joints: np.ndarray
    lower: float
    upper: float
    is_angle: bool


class GripperDrive(Protocol):
    """The servo of a gripper."""

    def reference(self) -> float:
        """Return the commanded position [m or rad]."""

    def set_reference(self, position: float) -> None:
        """Command a position [m or rad]."""

    def measured(self) -> tuple[float, float, float]:
        """Return position [m or rad], velocity and effort [N or Nm]."""

    def limit_effort(self, effort: float) -> None:
        """Limit the effort [N or Nm]; 0 restores that of the actuators."""


class _Robot(Protocol):
    references: References
    q: np.ndarray
    dq: np.ndarray
    effort: np.ndarray
    limit_effort: Callable[[int, float], None]


class JointDrive:
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
        """Limit the effort of the joint [N or Nm]; 0 restores that of the actuators."""
        self._robot.limit_effort(self._joint, effort)
