"""States that stand and think: how to reach the object, and how to bring it away."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import ClassVar

from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.interface.host import LOOK, Image
from mujoco_ros.controllers.library.pick_place.arm import ARM, Arm
from mujoco_ros.controllers.library.pick_place.box_detection import find
from mujoco_ros.controllers.library.pick_place.plan_requests import FAILURES, PlanRequest, move
from mujoco_ros.controllers.library.pick_place.task import (
    IN_THE_MIDDLE,
    TASK,
    Task,
    above,
    grasp,
    placing,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import rest
from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanningConfig:
    """How to plan a motion.

    Attributes:
        planning_time: Time after which the plan is needed, in simulated time [s].
        iterations: Largest number of the planner's iterations.
        clearance: How far above the table the motion ends, as lines begin there [m].
        speed: Part of the joints' largest speeds.
        acceleration: Part of their largest accelerations.
    """

    planning_time: float = 0.2
    iterations: int = 3000
    clearance: float = 0.15
    speed: float = 1.0
    acceleration: float = 1.0

    def __post_init__(self) -> None:
        """Refuse what no motion could be planned with."""
        if not 0.0 < self.speed <= 1.0 or not 0.0 < self.acceleration <= 1.0:
            raise UserInputError("speed and acceleration are parts: above 0, and 1 at most")
        if self.planning_time < 0.0 or self.iterations < 0 or self.clearance < 0.0:
            raise UserInputError("planning_time, iterations and clearance must not be negative")


class Planning(State):
    """Plans a motion of the joints, and waits for it."""

    outcomes: ClassVar[tuple[str, ...]] = ("ready", *FAILURES)
    failures: ClassVar[tuple[str, ...]] = FAILURES
    Config = PlanningConfig
    config: PlanningConfig

    def start(self, context: StateContext) -> None:
        """Forget the question of another time."""
        self._question: PlanRequest | None = None

    def run(self, context: StateContext) -> str | None:
        """Stand until there is a plan."""
        arm, task = context.store.get(ARM), context.store.get(TASK)
        rest(context, arm)
        if self._question is not None:
            return self._question.answer(context, arm, task)
        goal = self.goal(context, arm, task)
        if isinstance(goal, Pose):
            config = self.config
            future = move(
                *(context, arm, task, goal),
                scale=(config.speed, config.acceleration),
                iterations=config.iterations,
                later=self.later(task, goal),
            )
            duration = context.elapsed + config.planning_time
            self._question = PlanRequest(future, goal, duration)
            return None
        return goal

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return where the tool shall be, a failure, or None as long as that is not known."""
        raise NotImplementedError

    def later(self, task: Task, goal: Pose) -> Mapping[str, Pose]:
        """Return by name where the tool shall be after the goal."""
        return {}


class PlanApproach(Planning):
    """Looks where the object is, and plans how to get above it."""

    outcomes = (*Planning.outcomes, "no_object", "object_moved")
    failures = (*Planning.failures, "no_object", "object_moved")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(PlanningConfig):
        """How to plan, and how often.

        Attributes:
            planning_time: Time after which the plan is needed, in simulated time [s].
            iterations: Largest number of the planner's iterations.
            clearance: How far above the object the motion ends, as lines begin there [m].
            speed: Part of the joints' largest speeds.
            acceleration: Part of their largest accelerations.
            moves: How often the object may be moved while it is approached.
            patience: How long to wait until the object is known [s].
        """

        moves: int = 5
        patience: float = 1.0

    config: Config

    def start(self, context: StateContext) -> None:
        """Look for the object anew."""
        Planning.start(self, context)
        self._image: Future[Image] | None = None

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return a pose above the object."""
        if task.moves > self.config.moves:
            context.reason = f"'{task.object}' was moved {task.moves} times"
            return "object_moved"
        known = context.observation.objects
        if task.seen:
            task.found = known.get(task.object)
            if task.found is None and not context.over(self.config.patience):
                return None
            context.reason = f"no '{task.object}' is known; there are: {', '.join(known) or 'none'}"
        else:
            if self._image is None:
                self._image = context.store.get(LOOK)(task.camera)
            if not self._image.done():
                context.awaited.append(self._image)
                return None
            task.found = find(self._image.result())
            context.reason = f"the depth image of '{task.camera}' shows no box on a table"
        if task.found is None:
            return "no_object"
        context.reason = ""
        tool = arm.tool(context.observation.q)
        return above(grasp(task.found, tool), self.config.clearance)

    def later(self, task: Task, goal: Pose) -> Mapping[str, Pose]:
        """Return where the object is taken and set down: to be known before it is in the hand."""
        assert task.found is not None, "its pose is known by now"
        taking = grasp(task.found, goal)
        setting_down = placing(task.goal, IN_THE_MIDDLE, taking)
        return {
            f"'{task.object}'": taking,
            "the goal": setting_down,
            "above the goal": above(setting_down, self.config.clearance),
        }


class PlanTransport(Planning):
    """Plans how to get above the goal with the object in the hand."""

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return a pose above the goal."""
        assert task.held is not None, "the table leads here with something in the hand only"
        tool = arm.tool(context.observation.q)
        return above(placing(task.goal, task.held, tool), self.config.clearance)
