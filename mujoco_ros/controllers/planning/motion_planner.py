"""Planning of motions: inverse kinematics, path, curve, timing."""

import numpy as np

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.curves.curve import round_corners
from mujoco_ros.controllers.planning.curves.straight_line_paths import straight_line_path
from mujoco_ros.controllers.planning.curves.time_scaling import time_curve
from mujoco_ros.controllers.planning.curves.timed_curve import TimedCurve
from mujoco_ros.controllers.planning.errors import IkError
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.limits import MotionLimits
from mujoco_ros.controllers.planning.path_planning import plan_path
from mujoco_ros.controllers.planning.requests import JointMove, LineMove, MotionPlan, Request
from mujoco_ros.model.pose import Pose

_MIN_DISTANCE = 1e-7
"""A shorter motion takes no time, because time scaling fails for very short motions [rad or m]."""


class MotionPlanner:
    """Plans motions of a chain; expensive objects are kept between requests."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._checker: CollisionChecker | None = None

    def plan(self, request: Request) -> MotionPlan:
        """Plan a motion; the same request gives the same bits, independently of earlier requests.

        Raises:
            MotionError: No motion satisfies the request, whose docstring lists the errors.
            UserInputError: The request does not fit the chain.
        """
        self.chain.check(request.start)
        request.limits.check(self.chain.size)
        checker = self._set_scene(request.scene)
        if isinstance(request, JointMove):
            return self._joint_move(checker, request)
        return self._line_move(checker, request)

    def _set_scene(self, scene: PlanningScene) -> CollisionChecker:
        if self._checker is None:
            self._checker = CollisionChecker(self.chain, scene)
            self._inverse = InverseKinematics(self.chain, self._checker)
        else:
            self._checker.set_scene(scene)
        return self._checker

    def _joint_move(self, checker: CollisionChecker, request: JointMove) -> MotionPlan:
        start, goal = request.start, self._goal(request)
        corners, iterations = plan_path(
            checker, start, goal, seed=request.seed, iterations=request.iterations
        )
        trajectory = TimedCurve.at_rest(goal)
        if np.abs(goal - start).max() > _MIN_DISTANCE:
            curve = round_corners(corners, checker)
            trajectory = time_curve(curve, request.limits, dynamics=self._dynamics(request.limits))
        return MotionPlan(
            trajectory=trajectory,
            waypoints=corners,
            iterations=iterations,
            checks=checker.checks,
        )

    def _goal(self, request: JointMove) -> np.ndarray:
        near = request.start if request.near is None else request.near
        for name, pose in request.later_poses.items():
            try:
                self._inverse.solve(pose, near, ignore_collisions=True)
            except IkError as error:
                raise IkError(f"{name} is out of reach: {error}") from error
        if isinstance(request.goal, Pose):
            return self._inverse.solve(request.goal, near, seed=request.seed)
        self.chain.check(request.goal)
        if violation := self.chain.limit_violation(request.goal):
            raise IkError(f"the goal is out of range: {violation}")
        return request.goal

    def _line_move(self, checker: CollisionChecker, request: LineMove) -> MotionPlan:
        curve = straight_line_path(self._inverse, checker, request.start, request.goal)
        trajectory = TimedCurve.at_rest(request.start)
        if curve is not None:
            trajectory = time_curve(
                curve,
                request.limits,
                dynamics=self._dynamics(request.limits),
                speed=request.speed,
                acceleration=request.acceleration,
            )
        return MotionPlan(
            trajectory=trajectory,
            waypoints=np.stack([trajectory.start, trajectory.goal]),
            checks=checker.checks,
        )

    def _dynamics(self, limits: MotionLimits) -> Dynamics | None:
        return None if limits.torque is None else Dynamics(self.chain, limits.payload)
