"""Requests to a planner, and its plan; plain data that can be sent to another process."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.curve import TimedCurve
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose


@dataclass(frozen=True, kw_only=True, eq=False)
class JointMove:
    """A collision-free motion to a configuration, or to a pose of the tool.

    Errors: IkError if no configuration brings the tool to the pose, BlockedError if all that do are
    in collision, CollisionError at the start or at the goal, NoPathError if the planner finds no
    path, TimingError if a joint is too weak.
    """

    start: np.ndarray  # first configuration (k,)
    goal: np.ndarray | Pose  # last configuration (k,), or last pose of the tool in ``world``
    limits: MotionLimits
    scene: PlanningScene = field(default_factory=PlanningScene)
    # The last configuration is the one nearest to this configuration; None is `start`
    near: np.ndarray | None = None
    # Poses of the tool in later motions, by name. They must be reachable, with or without
    # collisions.
    later_poses: Mapping[str, Pose] = field(default_factory=dict)
    seed: int = 0
    iterations: int = 3000  # limit of the planner

    def __post_init__(self) -> None:
        if isinstance(self.goal, Pose):
            self.goal.check("the goal")
        for name, pose in self.later_poses.items():
            pose.check(name)
        if self.seed < 0:
            raise UserInputError(f"seed must be 0 or more, got {self.seed}")


@dataclass(frozen=True, kw_only=True, eq=False)
class LineMove:
    """A motion of the tool on the straight line to a pose.

    Errors: LineError if the chain cannot follow the line, CollisionError on the line, TimingError
    if a joint is too weak.
    """

    start: np.ndarray  # first configuration (k,)
    goal: Pose  # last pose of the tool in ``world``
    limits: MotionLimits
    scene: PlanningScene = field(default_factory=PlanningScene)
    speed: float = 0.25  # maximum speed of the tool [m/s]
    acceleration: float = 1.0  # maximum acceleration of the tool [m/s²]

    def __post_init__(self) -> None:
        self.goal.check("the goal")
        for name in ("speed", "acceleration"):
            if not getattr(self, name) > 0.0:
                raise UserInputError(f"{name} must be more than 0, got {getattr(self, name)}")


Request = JointMove | LineMove


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionPlan:
    """The result of a request."""

    trajectory: TimedCurve
    waypoints: np.ndarray  # corners of the path before they are rounded, or its two ends (m, k)
    iterations: int = 0  # iterations of the planner; 0 if the straight path is free
    checks: int = 0  # number of configurations checked for collisions
