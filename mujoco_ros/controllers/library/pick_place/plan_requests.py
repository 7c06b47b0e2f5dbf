"""Requests to the planner, and the outcomes of its errors."""

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace

import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.library.pick_place.arm import Arm
from mujoco_ros.controllers.library.pick_place.task import Task
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
    """Return which joints of the arm have large actuators, unlike those of the wrist.  # (k,)"""
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
    others = [it for it in context.robots.values() if it.robot_in_scene is not robot]
    supports = _supports(arm, task) - {it.robot.name for it in others}
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
            it.robot.prefix + name: position
            for it in others
            for name, position in zip(it.robot.joints, it.observation.q.tolist(), strict=True)
        },
        held=held,
        allowed=contacts if allow_contacts else (contacts[:1] if held else ()),
    )


def _supports(arm: Arm, task: Task) -> set[str]:
    """Return the names of all static bodies, on which an object can be placed."""
    model = arm.chain.model
    static = [i for i in range(1, model.nbody) if not model.body_weldid[i]]
    names = {model.body(i).name.partition("/")[0] for i in static}
    return names - {arm.robot.name, task.object, ""}
