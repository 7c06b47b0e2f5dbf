"""States that plan a motion while the arm holds its position, and their requests."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative, NotNegativeInt
from mujoco_ros.controllers.library.pick_place import grasping, motion_monitor
from mujoco_ros.controllers.library.pick_place.arm import Arm
from mujoco_ros.controllers.library.pick_place.box_detection import BoxDetection
from mujoco_ros.controllers.library.pick_place.task import PoseAverage, Task, TaskState
from mujoco_ros.controllers.planning.collisions.planning_scene import HeldObject, PlanningScene
from mujoco_ros.controllers.planning.kinematics import limits
from mujoco_ros.controllers.planning.requests import JointMove, LineMove, MotionPlan
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

FAILURES = ("ik_failed", "planner_timeout", "no_path")
_OUTCOMES: dict[type[limits.MotionError], str] = {
    limits.IkError: "ik_failed",
    limits.LineError: "ik_failed",
    limits.NoPathError: "planner_timeout",
    limits.PlannerDiedError: "planner_timeout",
}
"""Outcomes of errors; ``no_path`` of all others."""
_MOVED = 0.03  # distance beyond which an object has moved since its pose was measured [m]
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
        except limits.MotionError as error:
            context.reason = str(error)
            return _OUTCOMES.get(type(error), "no_path")
        task.motion = plan.trajectory
        reached = arm.kinematics.pose(plan.waypoints[-1])
        error_pose = self._goal.inverse() @ reached
        task.record_largest("ik_error", float(np.linalg.norm(error_pose.position)))
        task.record_largest("ik_turn", 2.0 * float(np.linalg.norm(error_pose.quat_wxyz[1:])))
        task.record_largest("corners", float(len(plan.waypoints)))
        return "ready"


def plan_line(
    context: StateContext,
    arm: Arm,
    task: Task,
    goal: Pose,
    *,
    duration: float,  # simulated time until the plan is needed [s]
    speed: float,  # speed of the tool [m/s]
    acceleration: float,  # acceleration of the tool [m/s²]
) -> PlanRequest:
    """Request a straight motion of the tool, with contacts between object, hand and supports."""
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


def _limits(arm: Arm, velocity: float, acceleration: float) -> limits.MotionLimits:
    return limits.MotionLimits(
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


class PlanningConfig(CheckedConfig):
    """Settings of a plan."""

    planning_time: NotNegative = setting(
        "Simulated time from the request to the use of the plan [s]", 0.2
    )
    iterations: NotNegativeInt = setting("Maximum number of iterations of the planner", 3000)
    clearance: NotNegative = setting(
        "Height above the goal at which the motion ends, and a line begins [m]", 0.15
    )
    speed: float = setting("Factor on the velocity limits", 1.0)
    acceleration: float = setting("Factor on the acceleration limits", 1.0)
    margin: float = setting(
        "Smallest distance to all obstacles [m], for errors of the arm and of their poses", 0.015
    )

    def check(self) -> None:
        if not 0.0 < self.speed <= 1.0 or not 0.0 < self.acceleration <= 1.0:
            raise UserInputError("speed and acceleration are factors: above 0 and at most 1")


class PlanningState(TaskState, outcomes=("ready",), failures=FAILURES):
    """Plans a motion of the joints."""

    Config = PlanningConfig
    config: PlanningConfig

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._request: PlanRequest | None = None

    def advance(self, context: StateContext) -> str | None:
        self.arm.hold(context)
        if self._request is not None:
            return self._request.poll(context, self.arm, self.task)
        goal = self.goal(context)
        if not isinstance(goal, Pose):
            return goal
        self._request = self._plan(context, goal)
        return None

    def _plan(self, context: StateContext, goal: Pose) -> PlanRequest:
        """Request a collision-free motion of the joints to a goal of the tool."""
        config, arm, task = self.config, self.arm, self.task
        q = context.references.q[arm.joints].copy()
        move = JointMove(
            start=q,
            goal=goal,
            near=q,
            later_poses=self.later(goal),
            scene=replace(_scene(context, arm, task), margin=config.margin),
            limits=_limits(arm, *self.scale()),
            seed=context.seed + task.attempts,
            iterations=config.iterations * task.variation.iterations,
        )
        due = context.elapsed + config.planning_time
        return PlanRequest(arm.planner.submit(move), goal, due)

    def goal(self, context: StateContext) -> Pose | str | None:
        """Return the goal of the tool, a failure, or None while the goal is unknown."""
        raise NotImplementedError

    def later(self, goal: Pose) -> Mapping[str, Pose]:
        """Return later goals of the tool by name; the plan fails if one is out of reach."""
        return {}

    def scale(self) -> tuple[float, float]:
        """Return the factors on the limits of velocity and acceleration."""
        factor = self.task.variation.speed
        return factor * self.config.speed, factor * self.config.acceleration


class PlanApproach(
    PlanningState, failures=("no_object", "object_moved", "pose_stale", "goal_blocked")
):
    """Locates the object, and plans a motion above it."""

    class Config(PlanningConfig):
        """Settings of `PlanApproach`.

        Attributes:
            clearance: Height above the object at which the motion ends, and a line begins [m].
        """

        moves: int = setting(
            "Maximum number of times that the object is moved during the approach", 5
        )
        patience: float = setting("Timeout of locating the object [s]", 1.0)
        measuring: float = setting("Duration over which its pose is averaged [s]", 0.1)
        stale: float = setting("Largest age of its pose [s]", 0.3)

    config: Config

    def start(self, context: StateContext) -> None:
        super().start(context)
        self._detection = BoxDetection()
        self._averages: dict[str, PoseAverage] = {}

    def goal(self, context: StateContext) -> Pose | str | None:
        arm, task = self.arm, self.task
        if task.moves > self.config.moves:
            context.reason = f"'{task.object}' was moved {task.moves} times"
            return "object_moved"
        task.tare.add(arm.weight(context))
        outcome = self._locate(context)
        if outcome != "located":
            return outcome
        context.reason = ""
        task.origin = task.origin or task.found
        if reason := task.resolve_goal():
            context.reason = reason
            return "no_object"
        if task.shape is not None and task.found is not None:
            at_goal = Pose(position=task.goal.position, quat_wxyz=task.found.quat_wxyz)
            blocked = grasping.overlap_at(arm.chain.model, task.object, task.shape, at_goal)
            if blocked is not None:
                context.reason = (
                    f"'{task.object}' at its goal would be {blocked[1] * 1e3:.0f} mm inside of "
                    f"'{blocked[0]}'; IDLE.goal_height: surface gives the height of the surface"
                )
                return "goal_blocked"
        tool = arm.tool(context.observation.q)
        return grasping.above(task.grasp(tool, arm.depth), self.config.clearance)

    def later(self, goal: Pose) -> Mapping[str, Pose]:
        """Return the poses of grasp and placement, which must be reachable before the grasp."""
        grasp = grasping.above(goal, -self.config.clearance)
        placement = grasping.placing(self.task.goal, grasping.CENTRED, grasp)
        return {
            f"'{self.task.object}'": grasp,
            "the goal": placement,
            "above the goal": grasping.above(placement, self.config.clearance),
        }

    def _locate(self, context: StateContext) -> str | None:
        """Set the pose of the object; return ``located``, a failure, or None to continue."""
        task = self.task
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
        if motion_monitor.is_stale(context, task.object, config.stale):
            return "pose_stale"
        task.moves += 1
        context.reason = f"'{task.object}' does not come to rest"
        return "object_moved"


class PlanTransport(PlanningState):
    """Plans a motion above the goal with the object in the hand."""

    def goal(self, context: StateContext) -> Pose | str | None:
        task = self.task
        assert task.held is not None, "the table leads here only with an object in the hand"
        task.found = task.found or task.origin
        if reason := task.resolve_goal():
            context.reason = reason
            return "ik_failed"
        placement = grasping.placing(task.target, task.held, self.arm.tool(context.observation.q))
        return grasping.above(placement, self.config.clearance)

    def scale(self) -> tuple[float, float]:
        """Return the factors on the limits, with a lower acceleration for a heavy object."""
        velocity, acceleration = super().scale()
        return velocity, acceleration * self.task.heavy_factor
