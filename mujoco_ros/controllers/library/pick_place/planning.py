"""States that plan a motion while the arm holds its position, and their requests."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative, NotNegativeInt
from mujoco_ros.controllers.library.pick_place.arm import Arm
from mujoco_ros.controllers.library.pick_place.box_detection import BoxDetection
from mujoco_ros.controllers.library.pick_place.grasping import CENTRED, above, overlap_at, placing
from mujoco_ros.controllers.library.pick_place.motion_monitor import stale_pose
from mujoco_ros.controllers.library.pick_place.task import (
    TASK,
    PoseAverage,
    Task,
    TaskState,
    get_arm,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import hold
from mujoco_ros.controllers.planning.collisions.planning_scene import HeldObject, PlanningScene
from mujoco_ros.controllers.planning.kinematics.limits import (
    BlockedError,
    CollisionError,
    IkError,
    LineError,
    MotionError,
    MotionLimits,
    NoPathError,
    PlannerDiedError,
    TimingError,
)
from mujoco_ros.controllers.planning.requests import JointMove, LineMove, MotionPlan
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

FAILURES = ("ik_failed", "planner_timeout", "no_path")
_OUTCOMES: dict[type[MotionError], str] = {
    IkError: "ik_failed",
    LineError: "ik_failed",
    BlockedError: "no_path",
    NoPathError: "planner_timeout",
    CollisionError: "no_path",
    TimingError: "no_path",
    PlannerDiedError: "planner_timeout",
}
_MOVED = 0.03
"""Distance beyond which an object has moved since its pose was measured [m]."""
_ACCELERATION = (8.0, 16.0)
"""The grasping lab's limits of the three large joints, and of the wrist joints [rad/s²]."""


class PlanRequest:
    """A plan in progress.

    The plan is used at a fixed time after the request, even if it is ready earlier, so that the
    motion does not depend on computing time.
    """

    def __init__(self, future: "Future[MotionPlan]", goal: Pose, ready_at: float) -> None:
        """Wait for a plan until `ready_at`, the time since the start of the state [s]."""
        self._future, self._goal, self._ready_at = future, goal, ready_at

    def poll(self, context: StateContext, arm: Arm, task: Task) -> str | None:
        """Return ``ready`` and set `Task.motion`, or a failure; None while the plan is computed."""
        if not context.has_elapsed(self._ready_at - context.period):
            return None
        if not context.has_elapsed(self._ready_at) or not self._future.done():
            context.awaited.append(self._future)
            return None
        try:
            plan = self._future.result()
        except MotionError as error:
            context.reason = str(error)
            return _OUTCOMES.get(type(error), "no_path")
        task.motion = plan.trajectory
        reached = arm.kinematics.pose(plan.waypoints[-1])
        error_pose = self._goal.inverse() @ reached
        task.record_largest("ik_error", float(np.linalg.norm(error_pose.position)))
        task.record_largest("ik_turn", 2.0 * float(np.linalg.norm(error_pose.quat_wxyz[1:])))
        task.record_largest("corners", float(len(plan.waypoints)))
        return "ready"


def plan_move(
    context: StateContext,
    arm: Arm,
    task: Task,
    goal: Pose,
    *,
    duration: float,
    scale: tuple[float, float],
    iterations: int,
    margin: float,
    later: Mapping[str, Pose],
) -> PlanRequest:
    """Request a collision-free motion of the joints to a goal of the tool.

    Args:
        duration: Simulated time until the plan is needed [s].
        scale: Factors on the velocity and acceleration limits.
        iterations: Limit of the planner.
        margin: Smallest distance to all obstacles [m].
        later: Later goals of the tool by name; the plan fails if one is out of reach.
    """
    q = context.references.q[arm.joints].copy()
    move = JointMove(
        start=q,
        goal=goal,
        near=q,
        later_poses=later,
        scene=replace(_scene(context, arm, task), margin=margin),
        limits=_limits(arm, *scale),
        seed=context.seed + task.attempts,
        iterations=iterations,
    )
    return PlanRequest(arm.planner.submit(move), goal, context.elapsed + duration)


def plan_line(
    context: StateContext,
    arm: Arm,
    task: Task,
    goal: Pose,
    *,
    duration: float,
    speed: float,
    acceleration: float,
) -> PlanRequest:
    """Request a straight motion of the tool, with contacts between object, hand and supports.

    Args:
        duration: Simulated time until the plan is needed [s].
        speed: Speed of the tool [m/s].
        acceleration: Acceleration of the tool [m/s²].
    """
    move = LineMove(
        start=context.references.q[arm.joints].copy(),
        goal=goal,
        scene=_scene(context, arm, task, allow_contacts=True),
        limits=_limits(arm, 1.0, 1.0),
        speed=speed,
        acceleration=acceleration,
    )
    return PlanRequest(arm.planner.submit(move), goal, context.elapsed + duration)


def large_joints(arm: Arm) -> np.ndarray:
    """Return which joints of the arm have large actuators, unlike the wrist's joints.  # (k,)"""
    effort = arm.robot.effort[arm.joints]
    large: np.ndarray = effort > 0.5 * effort.max()
    return large


def _limits(arm: Arm, velocity: float, acceleration: float) -> MotionLimits:
    return MotionLimits(
        velocity=velocity * arm.robot.velocity[arm.joints],
        acceleration=acceleration * np.where(large_joints(arm), *_ACCELERATION),
    )


def _scene(
    context: StateContext, arm: Arm, task: Task, *, allow_contacts: bool = False
) -> PlanningScene:
    robot = arm.robot
    objects = dict(context.observation.objects)
    for name, pose in task.others.items():  # less noisy than a single observation
        if name in objects and objects[name].distance_to(pose) < _MOVED:
            objects[name] = pose
    is_present = task.shape is not None and (task.object in objects or not task.seen)
    held = None
    if is_present and task.held is not None:
        held = HeldObject(object=task.object, pose=task.held)
    elif is_present and task.found is not None:
        objects[task.object] = task.found
    fingers = context.references.q[arm.gripper]
    fingers = np.clip(fingers, robot.lower[arm.gripper], robot.upper[arm.gripper])
    others = [other for other in context.robots.values() if other.robot_in_scene is not robot]
    model = arm.chain.model
    static = [i for i in range(1, model.nbody) if not model.body_weldid[i]]
    supports = {model.body(i).name.partition("/")[0] for i in static}
    supports -= {robot.name, task.object, "", *(other.robot.name for other in others)}
    touched = (robot.name, *sorted(supports)) if is_present else ()
    contacts = tuple((task.object, name) for name in touched)
    return PlanningScene(
        objects=objects,
        joints={
            robot.prefix + name: float(fingers)
            for i, name in enumerate(robot.joints)
            if i not in arm.joints
        }
        | {
            other.robot.prefix + name: position
            for other in others
            for name, position in zip(other.robot.joints, other.observation.q.tolist(), strict=True)
        },
        held=held,
        allowed=contacts if allow_contacts else (contacts[:1] if held else ()),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanningConfig(CheckedConfig):
    """Settings of a plan.

    Attributes:
        planning_time: Simulated time from the request to the use of the plan [s].
        iterations: Maximum number of iterations of the planner.
        clearance: Height above the goal at which the motion ends, and a line begins [m].
        speed: Factor on the velocity limits.
        acceleration: Factor on the acceleration limits.
        margin: Smallest distance to all obstacles [m], for errors of the arm and of their poses.
    """

    planning_time: NotNegative = 0.2
    iterations: NotNegativeInt = 3000
    clearance: NotNegative = 0.15
    speed: float = 1.0
    acceleration: float = 1.0
    margin: float = 0.015

    def __post_init__(self) -> None:
        CheckedConfig.__post_init__(self)
        if not 0.0 < self.speed <= 1.0 or not 0.0 < self.acceleration <= 1.0:
            raise UserInputError("speed and acceleration are factors: above 0 and at most 1")


class PlanningState(TaskState):
    """Plans a motion of the joints."""

    outcomes: ClassVar[tuple[str, ...]] = ("ready", *FAILURES)
    failures: ClassVar[tuple[str, ...]] = FAILURES
    Config = PlanningConfig
    config: PlanningConfig

    def start(self, context: StateContext) -> None:
        self._request: PlanRequest | None = None

    def advance(self, context: StateContext) -> str | None:
        arm, task = get_arm(context), context.store.get(TASK)
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
            scale=self.scale(task),
            iterations=config.iterations * task.variation.iterations,
            margin=config.margin,
            later=self.later(arm, task, goal),
        )
        return None

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        """Return the goal of the tool, a failure, or None while the goal is unknown."""
        raise NotImplementedError

    def later(self, arm: Arm, task: Task, goal: Pose) -> Mapping[str, Pose]:
        """Return later goals of the tool by name."""
        return {}

    def scale(self, task: Task) -> tuple[float, float]:
        """Return the factors on the limits of velocity and acceleration."""
        factor = task.variation.speed
        return factor * self.config.speed, factor * self.config.acceleration


_APPROACH_FAILURES = ("no_object", "object_moved", "pose_stale", "goal_blocked")


class PlanApproach(PlanningState):
    """Locates the object, and plans a motion above it."""

    outcomes = (*PlanningState.outcomes, *_APPROACH_FAILURES)
    failures = (*PlanningState.failures, *_APPROACH_FAILURES)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(PlanningConfig):
        """Settings of `PlanApproach`.

        Attributes:
            clearance: Height above the object at which the motion ends, and a line begins [m].
            moves: Maximum number of times that the object is moved during the approach.
            patience: Timeout of locating the object [s].
            measuring: Duration over which its pose is averaged [s].
            stale: Largest age of its pose [s].
        """

        moves: int = 5
        patience: float = 1.0
        measuring: float = 0.1
        stale: float = 0.3

    config: Config

    def start(self, context: StateContext) -> None:
        PlanningState.start(self, context)
        self._detection = BoxDetection()
        self._averages: dict[str, PoseAverage] = {}

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        if task.moves > self.config.moves:
            context.reason = f"'{task.object}' was moved {task.moves} times"
            return "object_moved"
        task.tare.add(arm.weight(context))
        outcome = self._locate(context, task)
        if outcome != "located":
            return outcome
        context.reason = ""
        task.origin = task.origin or task.found
        if reason := task.resolve_goal():
            context.reason = reason
            return "no_object"
        if task.shape is not None and task.found is not None:
            at_goal = Pose(position=task.goal.position, quat_wxyz=task.found.quat_wxyz)
            blocked = overlap_at(arm.chain.model, task.object, task.shape, at_goal)
            if blocked is not None:
                context.reason = (
                    f"'{task.object}' at its goal would be {blocked[1] * 1e3:.0f} mm inside of "
                    f"'{blocked[0]}'; IDLE.goal_height: surface gives the height of the surface"
                )
                return "goal_blocked"
        tool = arm.tool(context.observation.q)
        return above(task.grasp(tool, arm.depth), self.config.clearance)

    def later(self, arm: Arm, task: Task, goal: Pose) -> Mapping[str, Pose]:
        """Return the poses of grasp and placement, which must be reachable before the grasp."""
        assert task.found is not None, "the goal depends on the pose of the object"
        grasping = above(goal, -self.config.clearance)
        placement = placing(task.goal, CENTRED, grasping)
        return {
            f"'{task.object}'": grasping,
            "the goal": placement,
            "above the goal": above(placement, self.config.clearance),
        }

    def _locate(self, context: StateContext, task: Task) -> str | None:
        """Set the pose of the object; return ``located``, a failure, or None to continue."""
        if not task.seen:
            if not self._detection.is_done(context, task.camera):
                return None
            task.found = self._detection.pose()
            context.reason = f"no box on a table in the depth image of '{task.camera}'"
            return "no_object" if task.found is None else "located"
        known, config = context.observation.objects, self.config
        for name in known:
            if name not in self._averages:
                duration = config.measuring * task.variation.measuring
                self._averages[name] = PoseAverage(context.time - context.elapsed, duration)
            self._averages[name].add(context, name)
        poses = {name: average.pose(context.period) for name, average in self._averages.items()}
        task.found = poses.pop(task.object, None)
        task.others = {name: pose for name, pose in poses.items() if pose is not None}
        if task.found is not None:
            return "located"
        if not context.has_elapsed(config.patience * task.variation.measuring):
            return None
        if task.object not in known:
            context.reason = f"'{task.object}' not found; known: {', '.join(known) or 'none'}"
            return "no_object"
        if reason := stale_pose(context, task.object, config.stale):
            context.reason = reason
            return "pose_stale"
        task.moves += 1
        context.reason = f"'{task.object}' does not come to rest"
        return "object_moved"


class PlanTransport(PlanningState):
    """Plans a motion above the goal with the object in the hand."""

    def goal(self, context: StateContext, arm: Arm, task: Task) -> Pose | str | None:
        assert task.held is not None, "the table leads here only with an object in the hand"
        task.found = task.found or task.origin
        if reason := task.resolve_goal():
            context.reason = reason
            return "ik_failed"
        tool = arm.tool(context.observation.q)
        return above(placing(task.target, task.held, tool), self.config.clearance)

    def scale(self, task: Task) -> tuple[float, float]:
        """Return the factors on the limits, with a lower acceleration for a heavy object."""
        velocity, acceleration = PlanningState.scale(self, task)
        return velocity, acceleration * task.heavy_factor
