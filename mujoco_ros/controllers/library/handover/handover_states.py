"""States of `handover` that involve both arms."""

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative, Positive
from mujoco_ros.controllers.library.pick_place import grasping, planning
from mujoco_ros.controllers.library.pick_place.motion_monitor import is_stale
from mujoco_ros.controllers.library.pick_place.moving import RestMeasurement
from mujoco_ros.controllers.library.pick_place.planning import PlanningConfig
from mujoco_ros.controllers.library.pick_place.straight_motion import LineConfig, LineMotionState
from mujoco_ros.controllers.library.pick_place.task import PoseAverage, TaskState, get_arm
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

GIVER = "giver"  # name of the robot that gives, in a table with these states


class PlanPresent(planning.PlanningState):
    """Plans a motion that holds the box out, with a horizontal tool."""

    class Config(PlanningConfig):
        """Settings of `PlanPresent`."""

        position: tuple[float, ...] = setting(
            "Where the centre of the box is held out, in ``world`` [m]", (0.6, 0.0, 0.5)
        )
        heading: float = setting(
            "Direction in which the fingers point, about the vertical [rad]", 0.0
        )

        def check(self) -> None:
            super().check()
            if len(self.position) != 3:
                raise UserInputError(f"position is x, y and z, got {len(self.position)} numbers")

    config: Config

    def goal(self, context: StateContext) -> Pose | str | None:
        position, yaw = np.array(self.config.position), self.config.heading
        if self.task.held is not None:
            position -= grasping.presenting(position, yaw).matrix @ self.task.held.position
        return grasping.presenting(position, yaw)


class PlanReach(planning.PlanningState, failures=("no_object", "pose_stale")):
    """Measures the box that the other arm holds out, and plans a motion in front of it."""

    class Config(PlanningConfig):
        """Settings of `PlanReach`."""

        clearance: NotNegative = setting(
            "Distance from the grasp at which the motion ends, and a line begins [m]", 0.1
        )
        patience: NotNegative = setting("Timeout of locating the box [s]", 1.0)
        measuring: Positive = setting("Duration over which its pose is averaged [s]", 0.1)
        stale: Positive = setting("Largest age of its pose [s]", 0.3)

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._average = PoseAverage(context.time, self.config.measuring)

    def goal(self, context: StateContext) -> Pose | str | None:
        task = self.task
        self._average.add(context, task.object)
        task.found = self._average.pose(context.period)
        if task.found is not None:
            return grasping.behind(_grasp(context, self), self.config.clearance)
        if not context.has_elapsed(self.config.patience):
            return None
        if is_stale(context, task.object, self.config.stale):
            return "pose_stale"
        is_known = task.object in context.observation.objects
        what = "does not come to rest" if is_known else "has no known pose"
        context.reason = f"'{task.object}' {what}"
        return "no_object"


class Advance(LineMotionState, failures=("object_moved", "pose_stale")):
    """Moves the open fingers around the box in the other hand; stops if the box is moved."""

    def goal(self, context: StateContext) -> Pose:
        return _grasp(context, self)

    def check_and_brake(self, context: StateContext) -> str | None:
        return self.monitor.check_object(context)


class Take(TaskState, outcomes=("done",), failures=("slip", "pose_stale", "too_heavy")):
    """Waits until the box rests in the hand alone, and measures its pose and its mass."""

    class Config(CheckedConfig):
        """Settings of `Take`."""

        settling: NotNegative = setting("Time before the measurement [s]", 0.1)
        weighing: Positive = setting("Duration of the measurement [s]", 0.1)
        patience: NotNegative = setting("Timeout of the measurement [s]", 0.5)
        lightest: NotNegative = setting("Minimum mass of an object [kg]", 0.02)

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._measured: RestMeasurement | None = None

    def advance(self, context: StateContext) -> str | None:
        config = self.config
        self.arm.hold(context)
        if not context.has_elapsed(config.settling):
            return None
        measured = self._measured
        if measured is None:
            measured = RestMeasurement(context, self.arm, self.task, config.weighing)
            self._measured = measured
        if not measured.add(context):
            return measured.overdue(context, config.patience)
        if not self.arm.is_holding(context):
            context.reason = "the fingers do not push against an object"
            return "slip"
        outcome = measured.weigh(context, config.lightest) or measured.check_mass(context)
        if outcome is None:
            measured.load_arm()
        return outcome or "done"


class Withdraw(LineMotionState):
    """Draws the opening fingers back from the box in the other hand."""

    class Config(LineConfig):
        """Settings of `Withdraw`."""

        distance: Positive = setting("Length of the motion [m]", 0.12)

    config: Config

    def goal(self, context: StateContext) -> Pose:
        return grasping.behind(self.arm.tool(context.observation.q), self.config.distance)

    def check_and_brake(self, context: StateContext) -> str | None:
        self.arm.open(context)
        return None


class PlanPlacing(planning.PlanTransport):
    """Plans a motion above the goal with the box in a hand that points in any direction."""

    def goal(self, context: StateContext) -> Pose | str | None:
        task = self.task
        assert task.held is not None, "the table leads here only with an object in the hand"
        tool = self.arm.tool(context.observation.q)
        x, y, z = tool.position
        down = grasping.upright(x, y, z, grasping.heading(tool)) @ grasping.CENTRED
        task.found = down @ task.held  # the height of a goal on a surface depends on the side below
        if reason := task.resolve_goal():
            context.reason = reason
            return "ik_failed"
        placement = grasping.placing(task.goal, task.held, down)
        return grasping.above(placement, self.config.clearance)


class HoldArms(State):
    """Holds all arms."""

    def run(self, context: StateContext) -> str | None:
        for own in context.robots.values():
            get_arm(own).hold(own)
        return None


class StopArms(HoldArms):
    """Holds all arms where they are; the grippers keep an object in a hand."""

    def start(self, context: StateContext) -> None:
        """Hold the measured positions, so that no arm pushes against an obstacle."""
        for own in context.robots.values():
            get_arm(own).hold(own, where_measured=True)


def _grasp(context: StateContext, taker: TaskState) -> Pose:
    """Return the pose of the taker's tool around the box in the giver's hand."""
    arm, task, giver = taker.arm, taker.task, context.robots[GIVER]
    assert task.found is not None, "the table leads here only with a known object"
    tool = grasping.receiving(task.found, get_arm(giver).tool(giver.observation.q))
    if task.shape is None:
        return tool
    towards_palm = task.shape.bottom(tool.matrix.T @ task.found.matrix)
    return grasping.behind(tool, max(0.0, towards_palm - arm.depth))


STATES: tuple[type[State], ...] = (
    *(PlanPresent, PlanReach, Advance, Take, Withdraw, PlanPlacing, HoldArms, StopArms),
)
