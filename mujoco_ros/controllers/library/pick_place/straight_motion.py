"""States that move the tool straight down and up."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive
from mujoco_ros.controllers.library.pick_place.arm import GRAVITY
from mujoco_ros.controllers.library.pick_place.box_detection import BoxDetection
from mujoco_ros.controllers.library.pick_place.motion_monitor import wrist_force
from mujoco_ros.controllers.library.pick_place.moving import (
    FINGER_SPEED,
    ArmMotionState,
    MovingConfig,
    update_held_pose,
)
from mujoco_ros.controllers.library.pick_place.plan_requests import FAILURES, plan_line
from mujoco_ros.controllers.library.pick_place.task import (
    CENTRED,
    TASK,
    above,
    grasp,
    heading,
    placing,
    upright,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    ExecutedPath,
    ReversedPath,
    move_gripper,
)
from mujoco_ros.controllers.planning.kinematics.limits import Payload
from mujoco_ros.model.pose import Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class LineConfig(MovingConfig):
    """Settings of a straight motion.

    Attributes:
        speed: Speed of the tool [m/s].
        acceleration: Acceleration of the tool [m/s²].
        planning_time: Simulated time from the request to the use of the plan [s].
    """

    speed: float = 0.4
    acceleration: float = 2.0
    planning_time: float = 0.05

    def __post_init__(self) -> None:
        MovingConfig.__post_init__(self)
        check_positive(self, "speed", "acceleration")
        check_not_negative(self, "planning_time")


class LineMotionState(ArmMotionState):
    """Moves the tool along a straight line."""

    outcomes: ClassVar[tuple[str, ...]] = (*ArmMotionState.outcomes, *FAILURES)
    failures: ClassVar[tuple[str, ...]] = (*ArmMotionState.failures, *FAILURES)
    Config = LineConfig
    config: LineConfig

    def start(self, context: StateContext) -> None:
        """Request the line."""
        ArmMotionState.start(self, context)
        config = self.config
        self._request = plan_line(
            *(context, self.arm, self.task, self.goal(context)),
            duration=max(config.planning_time, context.period),
            speed=config.speed,
            acceleration=config.acceleration,
        )

    def goal(self, context: StateContext) -> Pose:
        """Return the goal of the tool."""
        raise NotImplementedError

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the line."""
        outcome = self._request.poll(context, self.arm, self.task)
        if outcome != "ready":
            return outcome
        self.task.descent = self.task.motion
        return self.task.motion


class Descend(LineMotionState):
    """Moves down around the object; stops if the object is moved."""

    outcomes = (*LineMotionState.outcomes, "object_moved")
    failures = (*LineMotionState.failures, "object_moved")

    def goal(self, context: StateContext) -> Pose:
        """Return the pose of the grasp."""
        assert self.task.found is not None, "the table leads here only with a known object"
        return grasp(self.task.found, self.arm.tool(context.observation.q))

    def check_and_brake(self, context: StateContext) -> str | None:
        """Check the pose of the object."""
        return self.monitor.check_object(context)


class Lift(LineMotionState):
    """Moves up with the object, and measures its mass."""

    outcomes = (*LineMotionState.outcomes, "slip", "contact_oscillation")
    failures = (*LineMotionState.failures, "slip", "contact_oscillation")
    holds_object = True

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(LineConfig):
        """Settings of `Lift`.

        Attributes:
            clearance: Height of the motion if there is no descent to reverse [m].
            weighing: Duration of the mass measurement [s].
            lightest: Minimum mass of an object [kg].
        """

        clearance: float = 0.15
        weighing: float = 0.1
        lightest: float = 0.02

    config: Config

    def start(self, context: StateContext) -> None:
        """Reverse the descent, or request a line."""
        descent = context.store.get(TASK).descent
        if descent is None:
            LineMotionState.start(self, context)
            self._assume_position(context)
        else:
            ArmMotionState.start(self, context)
        self._up = None if descent is None else ReversedPath(descent)
        self._forces: list[float] = []
        self._weighing_since: float | None = None

    def _assume_position(self, context: StateContext) -> None:
        """Assume that an object already in the hand comes from the table below the hand."""
        tool, task = self.arm.tool(context.observation.q), self.task
        if task.found is None:
            x, y, _ = tool.position
            task.found = upright(x, y, float(task.goal.position[2]), heading(tool))

    def goal(self, context: StateContext) -> Pose:
        """Return a pose straight above."""
        return above(self.arm.tool(context.observation.q), self.config.clearance)

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the path up."""
        return LineMotionState.path(self, context) if self._up is None else self._up

    def finish(self, context: StateContext) -> str | None:
        """Measure the mass."""
        if self._weighing_since is None:
            self._weighing_since = context.elapsed
        force = wrist_force(context)
        if force is not None:
            self._forces.append(force)
        if context.elapsed - self._weighing_since < self.config.weighing:
            return None
        self._forces = self._forces[len(self._forces) // 2 :]  # the arm still oscillated before
        return self._set_payload(context)

    def _set_payload(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        update_held_pose(context, arm, task)
        if task.held is None:  # gripped before the start of the controller
            task.held = CENTRED
        if not self._forces:  # a robot without a force-torque sensor
            return "done"
        mass = (float(np.mean(self._forces)) - task.tare) / GRAVITY
        task.metrics["payload"] = mass
        if mass < self.config.lightest:
            context.reason = f"the hand is empty: measured mass {mass * 1e3:.0f} g"
            return "slip"
        arm.set_payload(Payload(mass=mass, com=task.held.position))
        return "done"


class DescendPlace(LineMotionState):
    """Moves down with the object."""

    outcomes = (*LineMotionState.outcomes, "slip", "contact_oscillation")
    failures = (*LineMotionState.failures, "slip", "contact_oscillation")
    holds_object = True

    def goal(self, context: StateContext) -> Pose:
        """Return the pose of the tool with the object at its goal."""
        task, tool = self.task, self.arm.tool(context.observation.q)
        assert task.held is not None, "the table leads here only with an object in the hand"
        return placing(task.goal, task.held, tool)


class Retract(ArmMotionState):
    """Moves up without the object, and measures the place error."""

    outcomes = (*ArmMotionState.outcomes, "again", "missed_place")
    failures = (*ArmMotionState.failures, "missed_place")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(MovingConfig):
        """Settings of `Retract`.

        Attributes:
            tolerance: Largest horizontal distance from the goal [m].
            repeat: Whether to move the object back next, and so on.
        """

        tolerance: float = 0.005
        repeat: bool = False

    config: Config

    def start(self, context: StateContext) -> None:
        """Discard the image of an earlier run."""
        ArmMotionState.start(self, context)
        self._detection = BoxDetection()

    def path(self, context: StateContext) -> ExecutedPath | str | None:
        """Return the reversed descent."""
        assert self.task.descent is not None, "the table leads here only after a descent"
        return ReversedPath(self.task.descent)

    def check_and_brake(self, context: StateContext) -> str | None:
        """Open the gripper further."""
        move_gripper(context, self.arm, context.robot.upper[self.arm.gripper], FINGER_SPEED)
        return None

    def finish(self, context: StateContext) -> str | None:
        """Compare the pose of the object with its goal."""
        task = self.task
        if task.seen:
            pose = context.observation.objects.get(task.object)
        elif not self._detection.is_done(context, task.camera):
            return None
        else:
            pose = self._detection.pose()
        if pose is None:
            context.reason = f"'{task.object}' is not visible where it was released"
            return "missed_place"
        error = float(np.linalg.norm((pose.position - task.goal.position)[:2]))
        task.metrics["place_error"] = error
        if error > self.config.tolerance:
            context.reason = f"'{task.object}' is {error * 1e3:.1f} mm from its goal"
            return "missed_place"
        if not self.config.repeat:
            return "done"
        task.swapped = task.found
        return "again"
