"""States that lead the tool straight down and up."""

from concurrent.futures import Future
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.interface.host import LOOK, Image
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY
from mujoco_ros.controllers.library.pick_place.box_detection import find
from mujoco_ros.controllers.library.pick_place.checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.motion_monitor import weight
from mujoco_ros.controllers.library.pick_place.moving import (
    FINGER_SPEED,
    ArmMotionState,
    MovingConfig,
    see_in_hand,
)
from mujoco_ros.controllers.library.pick_place.plan_requests import FAILURES, PlanRequest, line
from mujoco_ros.controllers.library.pick_place.task import (
    IN_THE_MIDDLE,
    TASK,
    above,
    grasp,
    heading,
    placing,
    upright,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import Back, ExecutedPath, grip
from mujoco_ros.controllers.planning.kinematics.limits import Payload


@dataclass(frozen=True, kw_only=True, slots=True)
class LineConfig(MovingConfig):
    """How a line is drawn.

    Attributes:
        speed: Of the tool [m/s].
        acceleration: Of the tool [m/s²].
        planning_time: Time after which the plan is needed, in simulated time [s].
    """

    speed: float = 0.4
    acceleration: float = 2.0
    planning_time: float = 0.05

    def __post_init__(self) -> None:
        """Refuse a line that leads nowhere."""
        MovingConfig.__post_init__(self)
        check_positive(self, "speed", "acceleration")
        check_not_negative(self, "planning_time")


class Straight(ArmMotionState):
    """Leads the tool straight."""

    outcomes: ClassVar[tuple[str, ...]] = (*ArmMotionState.outcomes, *FAILURES)
    failures: ClassVar[tuple[str, ...]] = (*ArmMotionState.failures, *FAILURES)
    Config = LineConfig
    config: LineConfig

    def start(self, context: StateContext) -> None:
        """Ask for the line."""
        ArmMotionState.start(self, context)
        goal, config = self.goal(context), self.config
        future = line(
            *(context, self.arm, self.task, goal),
            speed=config.speed,
            acceleration=config.acceleration,
        )
        self._question = PlanRequest(future, goal, max(config.planning_time, context.period))

    def goal(self, context: StateContext) -> Pose:
        """Return where the tool shall be."""
        raise NotImplementedError

    def way(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the line."""
        answer = self._question.answer(context, self.arm, self.task)
        if answer != "ready":
            return answer
        self.task.descent = self.task.motion
        return self.task.motion


class Descend(Straight):
    """Goes down around the object; stops if the object is moved."""

    outcomes = (*Straight.outcomes, "object_moved")
    failures = (*Straight.failures, "object_moved")

    def goal(self, context: StateContext) -> Pose:
        """Return where the object is grasped."""
        assert self.task.found is not None, "the table leads here with a known object only"
        return grasp(self.task.found, self.arm.tool(context.observation.q))

    def doubt(self, context: StateContext) -> str | None:
        """Look whether the object is where it was."""
        return self.watch.moved(context)


class Lift(Straight):
    """Goes up with the object, and weighs it."""

    outcomes = (*Straight.outcomes, "slip", "contact_oscillation")
    failures = (*Straight.failures, "slip", "contact_oscillation")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(LineConfig):
        """How to lift.

        Attributes:
            clearance: How high, where no way down is known that leads up again [m].
            weighing: Time to weigh the object in [s].
            lightest: Mass below which there is nothing in the hand [kg].
        """

        clearance: float = 0.15
        weighing: float = 0.1
        lightest: float = 0.02

    config: Config

    def start(self, context: StateContext) -> None:
        """Go back up, where one came down."""
        descent = context.store.get(TASK).descent
        if descent is None:
            Straight.start(self, context)
            self._suppose(context)
        else:
            ArmMotionState.start(self, context)
        self._up = None if descent is None else Back(descent)
        self._weights: list[float] = []
        self._since: float | None = None

    def _suppose(self, context: StateContext) -> None:
        """Take what was in the hand already for taken from where the hand is, on the table."""
        tool, task = self.arm.tool(context.observation.q), self.task
        if task.found is None:
            x, y, _ = tool.position
            task.found = upright(x, y, float(task.goal.position[2]), heading(tool))

    def goal(self, context: StateContext) -> Pose:
        """Return a pose straight above."""
        return above(self.arm.tool(context.observation.q), self.config.clearance)

    def way(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the way back up."""
        return Straight.way(self, context) if self._up is None else self._up

    def check(self, context: StateContext) -> str | None:
        """Look whether the object is still held."""
        return self.watch.hold(context)

    def rested(self, context: StateContext) -> str | None:
        """Weigh."""
        self._since = context.elapsed if self._since is None else self._since
        load = weight(context)
        if load is not None:
            self._weights.append(load)
        if context.elapsed - self._since < self.config.weighing:
            return None
        self._weights = self._weights[len(self._weights) // 2 :]  # the arm still swung a little
        return self._weigh(context)

    def _weigh(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        see_in_hand(context, arm, task)
        if task.held is None:  # gripped before this controller began: in the middle, as it seems
            task.held = IN_THE_MIDDLE
        if not self._weights:  # a robot without a sensor at its wrist
            return "done"
        mass = (float(np.mean(self._weights)) - task.tare) / GRAVITY
        task.figures["payload"] = mass
        if mass < self.config.lightest:
            context.reason = (
                f"the hand weighs {mass * 1e3:.0f} g more than before: nothing is in it"
            )
            return "slip"
        arm.carry(Payload(mass=mass, com=task.held.position))
        return "done"


class DescendPlace(Straight):
    """Sets the object down."""

    outcomes = (*Straight.outcomes, "slip", "contact_oscillation")
    failures = (*Straight.failures, "slip", "contact_oscillation")

    def goal(self, context: StateContext) -> Pose:
        """Return where the object is at its goal."""
        task, tool = self.task, self.arm.tool(context.observation.q)
        assert task.held is not None, "the table leads here with something in the hand only"
        return placing(task.goal, task.held, tool)

    def check(self, context: StateContext) -> str | None:
        """Look whether the object is still held."""
        return self.watch.hold(context)


class Retract(ArmMotionState):
    """Goes up without the object, and looks whether that stands where it shall."""

    outcomes = (*ArmMotionState.outcomes, "again", "missed_place")
    failures = (*ArmMotionState.failures, "missed_place")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(MovingConfig):
        """When a place is missed, and what comes next.

        Attributes:
            tolerance: Distance from the goal, seen from above, that is good enough [m].
            repeat: Whether to bring the object back next, and so on.
        """

        tolerance: float = 0.005
        repeat: bool = False

    config: Config

    def start(self, context: StateContext) -> None:
        """Begin."""
        ArmMotionState.start(self, context)
        self._image: Future[Image] | None = None

    def way(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the way back up."""
        assert self.task.descent is not None, "the table leads here from below only"
        return Back(self.task.descent)

    def doubt(self, context: StateContext) -> str | None:
        """Open the gripper further."""
        grip(context, self.arm, context.robot.upper[self.arm.gripper], FINGER_SPEED)
        return None

    def rested(self, context: StateContext) -> str | None:
        """Compare where the object is with where it shall be."""
        task = self.task
        if task.seen:
            place = context.observation.objects.get(task.object)
        else:
            if self._image is None:
                self._image = context.store.get(LOOK)(task.camera)
            if not self._image.done():
                context.awaited.append(self._image)
                return None
            place = find(self._image.result())
        if place is None:
            context.reason = f"'{task.object}' is not to be seen where it was released"
            return "missed_place"
        off = float(np.linalg.norm((place.position - task.goal.position)[:2]))
        task.figures["place_error"] = off
        if off > self.config.tolerance:
            context.reason = f"'{task.object}' stands {off * 1e3:.1f} mm from its goal"
            return "missed_place"
        if not self.config.repeat:
            return "done"
        task.swapped = task.found
        return "again"
