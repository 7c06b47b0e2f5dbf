"""What motions can be asked for; plain data, to be had in another process."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.curves.timed_curve import TimedCurve
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose


@dataclass(frozen=True, kw_only=True, eq=False)
class JointMove:
    """From a posture to another, or to one that brings the tool somewhere, past everything.

    It fails with an IkError if no posture brings the tool there, a BlockedError if something
    touches in all that do, a CollisionError if something touches at the start or at the goal, a
    NoPathError if the planner finds no way, a TimingError if a joint is too weak.

    Attributes:
        start: First posture.  # (k,)
        goal: Last posture (k,), or pose of the tool in ``world``.
        limits: Of the joints.
        surroundings: Where everything else is.
        near: Posture that the last one shall be near to, if there is a choice; `start` if none.
        later: Poses that the tool is to be brought to after this, by name; each must be within
            reach, whatever may touch there.
        seed: Of all chance.
        iterations: After how many the planner gives up.
    """

    start: np.ndarray
    goal: np.ndarray | Pose
    limits: MotionLimits
    surroundings: PlanningScene = field(default_factory=PlanningScene)
    near: np.ndarray | None = None
    later: Mapping[str, Pose] = field(default_factory=dict)
    seed: int = 0
    iterations: int = 3000

    def __post_init__(self) -> None:
        """Refuse a goal that is nowhere, and a seed that is none."""
        if isinstance(self.goal, Pose):
            self.goal.check("the goal")
        for name, pose in self.later.items():
            pose.check(name)
        if self.seed < 0:
            raise UserInputError(f"seed must be 0 or more, got {self.seed}")


@dataclass(frozen=True, kw_only=True, eq=False)
class LineMove:
    """The tool straight from where it is to a pose.

    It fails with a LineError if the chain cannot follow the line, a CollisionError if it touches
    something on it, a TimingError if a joint is too weak.

    Attributes:
        start: First posture.  # (k,)
        goal: Last pose of the tool in ``world``.
        limits: Of the joints.
        surroundings: Where everything else is.
        speed: Of the tool at most [m/s].
        acceleration: Of the tool at most [m/s²].
    """

    start: np.ndarray
    goal: Pose
    limits: MotionLimits
    surroundings: PlanningScene = field(default_factory=PlanningScene)
    speed: float = 0.25
    acceleration: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what never arrives."""
        self.goal.check("the goal")
        for name in ("speed", "acceleration"):
            if not getattr(self, name) > 0.0:
                raise UserInputError(f"{name} must be more than 0, got {getattr(self, name)}")


Request = JointMove | LineMove


@dataclass(frozen=True, kw_only=True, eq=False)
class MotionPlan:
    """A motion that was asked for.

    Attributes:
        trajectory: The motion.
        waypoints: Corners of the way before they were rounded, or just its ends.  # (m, k)
        iterations: What the planner took; 0 if the straight way was free.
        checks: How many postures were checked for collisions.
    """

    trajectory: TimedCurve
    waypoints: np.ndarray
    iterations: int = 0
    checks: int = 0
