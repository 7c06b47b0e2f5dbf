"""Plans that are under way, and what their failures are called here."""

from collections.abc import Mapping
from concurrent.futures import Future

import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.library.pick_place.arm import Arm
from mujoco_ros.controllers.library.pick_place.task import Task
from mujoco_ros.controllers.planning.collisions.planning_scene import HeldObject, PlanningScene
from mujoco_ros.controllers.planning.errors import (
    BlockedError,
    CollisionError,
    IkError,
    LineError,
    MotionError,
    NoPathError,
    PlannerDiedError,
    TimingError,
)
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits
from mujoco_ros.controllers.planning.requests import JointMove, LineMove, MotionPlan

FAILURES = ("ik_failed", "planner_timeout", "no_path")
_NAMES: dict[type[MotionError], str] = {
    IkError: "ik_failed",
    LineError: "ik_failed",
    BlockedError: "no_path",
    NoPathError: "planner_timeout",
    CollisionError: "no_path",
    TimingError: "no_path",
    PlannerDiedError: "planner_timeout",
}
_ACCELERATION = (8.0, 16.0)
"""The grasping lab's limits: of the three large joints, and of those of the wrist [rad/s²]."""


class PlanRequest:
    """A plan that was asked for.

    It is looked at a fixed time after, whether it was there earlier or not: so what the controller
    does does not depend on how fast it was planned.
    """

    def __init__(self, future: "Future[MotionPlan]", wanted: Pose, duration: float) -> None:
        """Wait for a plan.

        Args:
            future: The plan.
            wanted: Where it shall bring the tool.
            duration: Time after which it is needed, from the state's start on [s].
        """
        self._future, self._wanted, self._duration = future, wanted, duration

    def answer(self, context: StateContext, arm: Arm, task: Task) -> str | None:
        """Return ``ready`` with `Task.motion` filled in, a failure, or None while one waits."""
        if not context.over(self._duration - context.period):
            return None
        if not context.over(self._duration) or not self._future.done():
            context.awaited.append(self._future)
            return None
        try:
            plan = self._future.result()
        except MotionError as error:
            context.reason = str(error)
            return _NAMES.get(type(error), "no_path")
        task.motion = plan.trajectory
        reached = arm.kinematics.pose(plan.waypoints[-1])
        off = self._wanted.inverse() @ reached
        task.note_largest("ik_error", float(np.linalg.norm(off.position)))
        task.note_largest("ik_turn", 2.0 * float(np.linalg.norm(off.quat_wxyz[1:])))
        task.note_largest("corners", float(len(plan.waypoints)))
        return "ready"


def move(
    context: StateContext,
    arm: Arm,
    task: Task,
    goal: Pose,
    *,
    scale: tuple[float, float],
    iterations: int,
    later: Mapping[str, Pose],
) -> "Future[MotionPlan]":
    """Ask for a motion of the joints around everything that is known to be there.

    Args:
        context: The tick.
        arm: The arm.
        task: The task.
        goal: Where the tool shall be.
        scale: Parts of the greatest speeds and accelerations.
        iterations: How long to try.
        later: Where the tool shall be after this, by name: the plan fails if that is out of reach.
    """
    here = context.references.q[arm.joints].copy()
    return arm.planner.submit(
        JointMove(
            start=here,
            goal=goal,
            near=here,
            later=later,
            surroundings=_surroundings(context, arm, task),
            limits=_limits(arm, *scale),
            seed=context.seed + task.attempts,
            iterations=iterations,
        )
    )


def line(
    context: StateContext, arm: Arm, task: Task, goal: Pose, *, speed: float, acceleration: float
) -> "Future[MotionPlan]":
    """Ask for a straight motion of the tool, which may touch the object and set it down.

    Args:
        context: The tick.
        arm: The arm.
        task: The task.
        goal: Where the tool shall be.
        speed: Of the tool [m/s].
        acceleration: Of the tool [m/s²].
    """
    return arm.planner.submit(
        LineMove(
            start=context.references.q[arm.joints].copy(),
            goal=goal,
            surroundings=_surroundings(context, arm, task, touching=True),
            limits=_limits(arm, 1.0, 1.0),
            speed=speed,
            acceleration=acceleration,
        )
    )


def _limits(arm: Arm, speed: float, acceleration: float) -> MotionLimits:
    robot = arm.robot
    large = robot.effort[arm.joints] > 0.5 * robot.effort[arm.joints].max()
    return MotionLimits(
        velocity=speed * robot.velocity[arm.joints],
        acceleration=acceleration * np.where(large, *_ACCELERATION),
    )


def _surroundings(
    context: StateContext, arm: Arm, task: Task, *, touching: bool = False
) -> PlanningScene:
    robot, seen = arm.robot, context.observation
    objects = dict(seen.objects)
    if not task.seen and task.found is not None:
        objects[task.object] = task.found
    held = None
    if task.held is not None:
        held = HeldObject(object=task.object, pose=task.held)
    fingers = context.references.q[arm.gripper]
    fingers = np.clip(fingers, robot.lower[arm.gripper], robot.upper[arm.gripper])
    allowed = tuple((task.object, name) for name in (robot.name, *_supports(arm, task)))
    return PlanningScene(
        objects=objects,
        joints={
            robot.prefix + name: float(fingers)
            for i, name in enumerate(robot.joints)
            if i not in arm.joints
        },
        held=held,
        allowed=allowed if touching else (allowed[:1] if held else ()),
    )


def _supports(arm: Arm, task: Task) -> tuple[str, ...]:
    """Return whatever does not move: an object may be set down on it."""
    model = arm.chain.model
    still = [i for i in range(1, model.nbody) if not model.body_weldid[i]]
    names = {model.body(i).name.partition("/")[0] for i in still}
    return tuple(sorted(names - {arm.robot.name, task.object, ""}))
