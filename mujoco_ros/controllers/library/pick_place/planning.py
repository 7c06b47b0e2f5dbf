"""States that plan a motion while the arm holds its position."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.library.pick_place.arm import ARM, Arm
from mujoco_ros.controllers.library.pick_place.box_detection import BoxDetection
from mujoco_ros.controllers.library.pick_place.plan_requests import (
    FAILURES,
    PlanRequest,
    plan_move,
)
from mujoco_ros.controllers.library.pick_place.task import (
    CENTRED,
    TASK,
    Task,
    above,
    grasp,
    placing,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import hold
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanningConfig:
    """Settings of a plan.

    Attributes:
        planning_time: Simulated time from the request to the use of the plan [s].
        iterations: Maximum number of iterations of the planner.
        clearance: Height above the goal at which the motion ends, and a line begins [m].
        speed: Factor on the velocity limits.
        acceleration: Factor on the acceleration limits.
    """

    planning_time: float = 0.2
    iterations: int = 3000
    clearance: float = 0.15
    speed: float = 1.0
    acceleration: float = 1.0

    def __post_init__(self) -> None:
        if not 0.0 < self.speed <= 1.0 or not 0.0 < self.acceleration <= 1.0:
            raise UserInputError("speed and acceleration are factors: above 0 and at most 1")
        if self.planning_time < 0.0 or self.iterations < 0 or self.clearance < 0.0:
            raise UserInputError("planning_time, iterations and clearance must not be negative")


class PlanningState(State):
    """Plans a motion of the joints."""

    outcomes: ClassVar[tuple[str, ...]] = ("ready", *FAILURES)
    failures: ClassVar[tuple[str, ...]] = FAILURES
    Config = PlanningConfig
    config: PlanningConfig

    def start(self, context: StateContext) -> None:
        """Discard the request of an earlier run."""
        self._request: PlanRequest | None = None

    def run(self, context: StateContext) -> str | None:
        """Hold the arm until the plan is ready."""
        arm, task = context.store.get(ARM), context.store.get(TASK)
        hold(context, arm)
        if self._request is not None:
            return self._request.poll(context, arm, task)
        goal = self.goal(context, arm, task)
        if not isinstance(goal, Pose):
            return goal
        config = self.config
        self._request = plan_move(
            *(context, arm, task, goal),
            duration=config.planning_time,
            scale=(config.speed, config.acceleration),
            iterations=config.iterations,
            later=self.later(task, goal),
        )
        return None

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return the goal of the tool, a failure, or None while the goal is unknown."""
        raise NotImplementedError

    def later(self, task: Task, goal: Pose) -> Mapping[str, Pose]:
        """Return later goals of the tool by name."""
        return {}


class PlanApproach(PlanningState):
    """Locates the object, and plans a motion above it."""

    outcomes = (*PlanningState.outcomes, "no_object", "object_moved")
    failures = (*PlanningState.failures, "no_object", "object_moved")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(PlanningConfig):
        """Settings of `PlanApproach`.

        Attributes:
            clearance: Height above the object at which the motion ends, and a line begins [m].
            moves: Maximum number of times that the object is moved during the approach.
            patience: Timeout of locating the object [s].
        """

        moves: int = 5
        patience: float = 1.0

    config: Config

    def start(self, context: StateContext) -> None:
        """Discard request and image of an earlier run."""
        PlanningState.start(self, context)
        self._detection = BoxDetection()

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return a pose above the object."""
        if task.moves > self.config.moves:
            context.reason = f"'{task.object}' was moved {task.moves} times"
            return "object_moved"
        known = context.observation.objects
        if task.seen:
            task.found = known.get(task.object)
            if task.found is None and not context.has_elapsed(self.config.patience):
                return None
            context.reason = f"'{task.object}' not found; known: {', '.join(known) or 'none'}"
        else:
            if not self._detection.is_done(context, task.camera):
                return None
            task.found = self._detection.pose()
            context.reason = f"no box on a table in the depth image of '{task.camera}'"
        if task.found is None:
            return "no_object"
        context.reason = ""
        tool = arm.tool(context.observation.q)
        return above(grasp(task.found, tool), self.config.clearance)

    def later(self, task: Task, goal: Pose) -> Mapping[str, Pose]:
        """Return the poses of grasp and placement, which must be reachable before the grasp."""
        assert task.found is not None, "the goal depends on the pose of the object"
        grasping = grasp(task.found, goal)
        placement = placing(task.goal, CENTRED, grasping)
        return {
            f"'{task.object}'": grasping,
            "the goal": placement,
            "above the goal": above(placement, self.config.clearance),
        }


class PlanTransport(PlanningState):
    """Plans a motion above the goal with the object in the hand."""

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return a pose above the goal."""
        assert task.held is not None, "the table leads here only with an object in the hand"
        tool = arm.tool(context.observation.q)
        return above(placing(task.goal, task.held, tool), self.config.clearance)
