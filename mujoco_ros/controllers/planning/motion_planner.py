"""How what was asked for becomes a motion."""

import numpy as np

from mujoco_ros.controllers.planning.collisions.collisions import Collisions
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.curves.curve import rounded
from mujoco_ros.controllers.planning.curves.straight_lines import line_curve
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

_NOWHERE = 1e-7
"""A way that is none [rad or m]; one that is much shorter could not be timed."""


class MotionPlanner:
    """Plans motions of one chain; what takes long to make is kept from one to the next."""

    def __init__(self, chain: Chain) -> None:
        """Plan for `chain`."""
        self.chain = chain
        self._collisions: Collisions | None = None

    def plan(self, request: Request) -> MotionPlan:
        """Plan what was asked for; the same request gives the same bits, whatever was before.

        Raises:
            MotionError: It cannot be had, and why; the request says of which kinds.
            ModelError: The request is none for this chain.
        """
        self.chain.check(request.start)
        request.limits.check(self.chain.size)
        collisions = self._among(request.surroundings)
        if isinstance(request, JointMove):
            return self._joint_move(collisions, request)
        return self._line_move(collisions, request)

    def _among(self, surroundings: PlanningScene) -> Collisions:
        if self._collisions is None:
            self._collisions = Collisions(self.chain, surroundings)
            self._inverse = InverseKinematics(self.chain, self._collisions)
        else:
            self._collisions.surround(surroundings)
        return self._collisions

    def _joint_move(self, collisions: Collisions, request: JointMove) -> MotionPlan:
        start, goal = request.start, self._goal(request)
        corners, iterations = plan_path(
            collisions, start, goal, seed=request.seed, iterations=request.iterations
        )
        trajectory = TimedCurve.resting(goal)
        if np.abs(goal - start).max() > _NOWHERE:
            curve = rounded(corners, collisions)
            trajectory = time_curve(curve, request.limits, dynamics=self._dynamics(request.limits))
        return MotionPlan(
            trajectory=trajectory,
            waypoints=corners,
            iterations=iterations,
            checks=collisions.checks,
        )

    def _goal(self, request: JointMove) -> np.ndarray:
        """Return the last posture."""
        near = request.start if request.near is None else request.near
        for name, pose in request.later.items():
            try:
                self._inverse.solve(pose, near, blind=True)
            except IkError as error:
                raise IkError(f"{name} is out of reach: {error}") from error
        if isinstance(request.goal, Pose):
            return self._inverse.solve(request.goal, near, seed=request.seed)
        self.chain.check(request.goal)
        if beyond := self.chain.beyond(request.goal):
            raise IkError(f"the goal is no posture: {beyond}")
        return request.goal

    def _line_move(self, collisions: Collisions, request: LineMove) -> MotionPlan:
        curve = line_curve(self._inverse, collisions, request.start, request.goal)
        trajectory = TimedCurve.resting(request.start)
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
            checks=collisions.checks,
        )

    def _dynamics(self, limits: MotionLimits) -> Dynamics | None:
        return None if limits.torque is None else Dynamics(self.chain, limits.payload)
