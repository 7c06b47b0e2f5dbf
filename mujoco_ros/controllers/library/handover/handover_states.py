"""States of `handover` that involve both arms."""

from dataclasses import dataclass

import numpy as np

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative, Positive
from mujoco_ros.controllers.library.pick_place.arm import Arm, is_holding
from mujoco_ros.controllers.library.pick_place.grasping import (
    CENTRED,
    above,
    behind,
    heading,
    placing,
    presenting,
    receiving,
    upright,
)
from mujoco_ros.controllers.library.pick_place.motion_monitor import stale_pose
from mujoco_ros.controllers.library.pick_place.moving import FINGER_SPEED, RestMeasurement
from mujoco_ros.controllers.library.pick_place.planning import (
    PlanningConfig,
    PlanningState,
    PlanTransport,
)
from mujoco_ros.controllers.library.pick_place.straight_motion import LineConfig, LineMotionState
from mujoco_ros.controllers.library.pick_place.task import (
    TASK,
    PoseAverage,
    Task,
    TaskState,
    get_arm,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import hold, move_gripper
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

GIVER = "giver"
"""Name of the robot that gives, in a table with these states."""


class PlanPresent(PlanningState):
    """Plans a motion that holds the box out, with a horizontal tool."""

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(PlanningConfig):
        """Settings of `PlanPresent`.

        Attributes:
            position: Where the centre of the box is held out, in ``world`` [m].
            heading: Direction in which the fingers point, about the vertical [rad].
        """

        position: tuple[float, ...] = (0.6, 0.0, 0.5)
        heading: float = 0.0

        def __post_init__(self) -> None:
            PlanningConfig.__post_init__(self)
            if len(self.position) != 3:
                raise UserInputError(f"position is x, y and z, got {len(self.position)} numbers")

    config: Config

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        position, yaw = np.array(self.config.position), self.config.heading
        if task.held is not None:
            position -= presenting(position, yaw).matrix @ task.held.position
        return presenting(position, yaw)


class PlanReach(PlanningState):
    """Measures the box that the other arm holds out, and plans a motion in front of it."""

    outcomes = (*PlanningState.outcomes, "no_object", "pose_stale")
    failures = (*PlanningState.failures, "no_object", "pose_stale")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(PlanningConfig):
        """Settings of `PlanReach`.

        Attributes:
            clearance: Distance from the grasp at which the motion ends, and a line begins [m].
            patience: Timeout of locating the box [s].
            measuring: Duration over which its pose is averaged [s].
            stale: Largest age of its pose [s].
        """

        clearance: NotNegative = 0.1
        patience: NotNegative = 1.0
        measuring: Positive = 0.1
        stale: Positive = 0.3

    config: Config

    def start(self, context: StateContext) -> None:
        PlanningState.start(self, context)
        self._average = PoseAverage(context.time, self.config.measuring)

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        self._average.add(context, task.object)
        task.found = self._average.pose(context.period)
        if task.found is not None:
            return behind(_grasp(context, arm, task), self.config.clearance)
        if not context.has_elapsed(self.config.patience):
            return None
        if reason := stale_pose(context, task.object, self.config.stale):
            context.reason = reason
            return "pose_stale"
        is_known = task.object in context.observation.objects
        what = "does not come to rest" if is_known else "has no known pose"
        context.reason = f"'{task.object}' {what}"
        return "no_object"


class Advance(LineMotionState):
    """Moves the open fingers around the box in the other hand; stops if the box is moved."""

    outcomes = (*LineMotionState.outcomes, "object_moved", "pose_stale")
    failures = (*LineMotionState.failures, "object_moved", "pose_stale")

    def goal(self, context: StateContext) -> Pose:
        return _grasp(context, self.arm, self.task)

    def check_and_brake(self, context: StateContext) -> str | None:
        return self.monitor.check_object(context)


class Take(TaskState):
    """Waits until the box rests in the hand alone, and measures its pose and its mass."""

    outcomes = ("done", "slip", "pose_stale", "too_heavy")
    failures = ("slip", "pose_stale", "too_heavy")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(CheckedConfig):
        """Settings of `Take`.

        Attributes:
            settling: Time before the measurement [s].
            weighing: Duration of the measurement [s].
            patience: Timeout of the measurement [s].
            lightest: Minimum mass of an object [kg].
        """

        settling: NotNegative = 0.1
        weighing: Positive = 0.1
        patience: NotNegative = 0.5
        lightest: NotNegative = 0.02

    config: Config

    def start(self, context: StateContext) -> None:
        self._measured: RestMeasurement | None = None

    def advance(self, context: StateContext) -> str | None:
        arm, task, config = get_arm(context), context.store.get(TASK), self.config
        hold(context, arm)
        if not context.has_elapsed(config.settling):
            return None
        if self._measured is None:
            self._measured = RestMeasurement(context, arm, task, config.weighing)
        if not self._measured.add(context):
            return self._measured.overdue(context, config.patience)
        if not is_holding(context, arm):
            context.reason = "the fingers do not push against an object"
            return "slip"
        if outcome := self._measured.weigh(context, config.lightest):
            return outcome
        if not np.isfinite(self._measured.mass):  # nothing measures forces
            return "done"
        if reason := task.excess_mass(self._measured.mass):
            context.reason = reason
            return "too_heavy"
        self._measured.load_arm()
        return "done"


class Withdraw(LineMotionState):
    """Draws the opening fingers back from the box in the other hand."""

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(LineConfig):
        """Settings of `Withdraw`.

        Attributes:
            distance: Length of the motion [m].
        """

        distance: Positive = 0.12

    config: Config

    def goal(self, context: StateContext) -> Pose:
        return behind(self.arm.tool(context.observation.q), self.config.distance)

    def check_and_brake(self, context: StateContext) -> str | None:
        upper = float(context.robot.upper[self.arm.gripper])
        move_gripper(context, self.arm, upper, FINGER_SPEED)
        return None


class PlanPlacing(PlanTransport):
    """Plans a motion above the goal with the box in a hand that points in any direction."""

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return a pose above the goal, with the tool down."""
        assert task.held is not None, "the table leads here only with an object in the hand"
        tool = arm.tool(context.observation.q)
        x, y, z = tool.position
        down = upright(x, y, z, heading(tool)) @ CENTRED
        task.found = down @ task.held  # the height of a goal on a surface depends on the side below
        if reason := task.resolve_goal():
            context.reason = reason
            return "ik_failed"
        return above(placing(task.goal, task.held, down), self.config.clearance)


class HoldArms(State):
    """Holds all arms."""

    def run(self, context: StateContext) -> str | None:
        for own in context.robots.values():
            hold(own, get_arm(own))
        return None


class StopArms(HoldArms):
    """Holds all arms where they are; the grippers keep an object in a hand."""

    def start(self, context: StateContext) -> None:
        """Hold the measured positions, so that no arm pushes against an obstacle."""
        for own in context.robots.values():
            arm = get_arm(own)
            hold(own, arm, own.observation.q[arm.joints].copy())


STATES: tuple[type[State], ...] = (
    PlanPresent,
    PlanReach,
    Advance,
    Take,
    Withdraw,
    PlanPlacing,
    HoldArms,
    StopArms,
)


def _grasp(context: StateContext, arm: Arm, task: Task) -> Pose:
    """Return the pose of the taker's tool around the box in the giver's hand."""
    assert task.found is not None, "the table leads here only with a known object"
    giver = context.robots[GIVER]
    tool = receiving(task.found, get_arm(giver).tool(giver.observation.q))
    if task.shape is None:
        return tool
    towards_palm = task.shape.bottom(tool.matrix.T @ task.found.matrix)
    return behind(tool, max(0.0, towards_palm - arm.depth))
