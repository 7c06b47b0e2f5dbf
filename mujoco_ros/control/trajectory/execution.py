"""A trajectory that waits for its start, or is executed."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mujoco_ros.control.events import ActionGoal
from mujoco_ros.control.trajectory.follower import TrajectoryFollower
from mujoco_ros.control.trajectory.trajectory import Trajectory


class Measured(NamedTuple):
    """Simulated time [s], and the positions and velocities measured then.  # (n,) each."""

    time: float
    q: np.ndarray
    dq: np.ndarray


@dataclass
class Execution:
    """A trajectory, pending or in execution, and the state of its monitoring."""

    trajectory: Trajectory
    begin: float
    # Indices of the joints that it moves: all of the trajectory that no other command has taken
    # (k,)
    joints: np.ndarray
    path_tolerance: np.ndarray  # largest errors of their positions and velocities (2, k)
    follower: TrajectoryFollower | None = None
    started: bool = False
    next_feedback: float = 0.0

    def __post_init__(self) -> None:
        """Find whether there is a path tolerance, which costs as much as many steps."""
        self.has_path_tolerance = bool(np.isfinite(self.path_tolerance).any())

    @property
    def goal(self) -> ActionGoal | None:
        """The goal that it executes."""
        return self.trajectory.goal

    def without_goal(self) -> "Execution":
        """Return the same execution for no goal."""
        return replace(self, trajectory=replace(self.trajectory, goal=None))

    def release(self, joints: np.ndarray) -> None:
        """Release `joints`."""
        kept = ~np.isin(self.joints, joints)
        self.joints, self.path_tolerance = self.joints[kept], self.path_tolerance[:, kept]
        self.__post_init__()
