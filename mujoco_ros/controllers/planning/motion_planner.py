"""Planning of motions: inverse kinematics, collision-free path, curve, timing."""

from typing import Any

import numpy as np
from ompl import base, geometric, util

from mujoco_ros.controllers.planning.collisions.collision_checker import CollisionChecker, escape
from mujoco_ros.controllers.planning.curve import TimedCurve, round_corners
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.dynamics import Dynamics
from mujoco_ros.controllers.planning.kinematics.inverse_kinematics import InverseKinematics
from mujoco_ros.controllers.planning.kinematics.limits import (
    CollisionError,
    IkError,
    MotionLimits,
    NoPathError,
)
from mujoco_ros.controllers.planning.requests import JointMove, LineMove, MotionPlan, Request
from mujoco_ros.controllers.planning.straight_line_paths import straight_line_path
from mujoco_ros.controllers.planning.time_scaling import time_curve
from mujoco_ros.model.pose import Pose

_MAX_DETOUR = np.pi  # range of a joint beyond start and goal [rad or m], within its limits
_MAX_BRANCH = 1.0  # longest branch of a tree [rad]
_IMPROVEMENTS = 20  # iterations that shorten the first path
_SHORTCUTS = 30

# The errors have OMPL's reasons; its warning that a seed is set repeatedly does not apply.
util.setLogLevel(util.LOG_NONE)


def plan_path(
    checker: CollisionChecker, start: np.ndarray, goal: np.ndarray, *, seed: int, iterations: int
) -> tuple[np.ndarray, int]:
    """Find a short path from `start` (k,) to `goal` (k,) within a number of iterations.

    The straight path is used if it is free, else OMPL's AORRTC: two trees grow towards each other,
    then again several times for a shorter path. A path from a start within the margin first leaves
    the margin on a straight line. The same arguments give the same bits.

    Returns the corners of the path, both ends included (m, k), and the number of iterations.
    CollisionError at the goal, or deep at the start; NoPathError if no path was found.
    """
    collision = checker.deepest_pair(goal)
    if collision is not None:
        raise CollisionError(f"at the goal {collision}")
    begin = start
    if not checker.is_free(start):
        begin = escape(checker, start, goal, seed=seed)
    if iterations > 0 and checker.is_line_free(begin, goal):
        corners, spent = np.stack([begin, goal]), 0
    else:
        corners, spent = _search(checker, begin, goal, seed, iterations)
    return (corners if begin is start else np.stack([start, *corners])), spent


def _search(
    checker: CollisionChecker, start: np.ndarray, goal: np.ndarray, seed: int, iterations: int
) -> tuple[np.ndarray, int]:
    """Return the corners of a path and the number of iterations."""
    # Each random OMPL object is seeded from this when it is created.
    util.RNG.setSeed(1 + seed % (2**31 - 1))
    chain = checker.chain
    size = chain.size
    space = base.RealVectorStateSpace(size)
    bounds = base.RealVectorBounds(size)
    low, high = np.minimum(start, goal), np.maximum(start, goal)
    # A measured start may be a little beyond its limits.
    bounds.low = np.minimum(low, np.maximum(low - _MAX_DETOUR, chain.lower)).tolist()
    bounds.high = np.maximum(high, np.minimum(high + _MAX_DETOUR, chain.upper)).tolist()
    space.setBounds(bounds)
    information = base.SpaceInformation(space)
    information.setStateValidityChecker(lambda state: checker.is_free(np.array(state[0:size])))
    validator = _Validator(information, checker)
    information.setMotionValidator(validator)
    information.setup()
    problem = base.ProblemDefinition(information)
    ends = [information.allocState(), information.allocState()]
    for state, q in zip(ends, (start, goal), strict=True):
        state[0:size] = q.tolist()
    problem.setStartAndGoalStates(*ends)
    planner = geometric.AORRTC(information)
    planner.setRange(_MAX_BRANCH)
    planner.setProblemDefinition(problem)
    planner.setup()
    budget = _Budget(problem, iterations)
    planner.solve(base.PlannerTerminationCondition(budget))
    if not problem.hasExactSolution():
        raise NoPathError(f"no path was found in {budget.spent} iterations")
    path = problem.getSolutionPath()
    simplifier = geometric.PathSimplifier(information)
    simplifier.partialShortcutPath(path, _SHORTCUTS, _SHORTCUTS // 2)
    simplifier.reduceVertices(path, _SHORTCUTS, _SHORTCUTS // 2)
    return np.array([state[0:size] for state in path.getStates()]), budget.spent


class _Budget:
    """Termination condition that counts iterations, and so does not depend on the machine."""

    def __init__(self, problem: Any, iterations: int) -> None:
        self.spent = 0
        self._problem, self._left, self._solved = problem, iterations, False

    def __call__(self) -> bool:
        if not self._solved and self._problem.hasExactSolution():
            self._solved = True
            self._left = min(self._left, _IMPROVEMENTS)
        if self._left <= 0:
            return True
        self.spent += 1
        self._left -= 1
        return False


class _Validator(base.MotionValidator):
    def __init__(self, space: Any, checker: CollisionChecker) -> None:
        super().__init__(space)
        self._checker, self._size = checker, checker.chain.size

    def checkMotion(self, first: Any, second: Any) -> bool:  # noqa: N802 - OMPL's name
        size = self._size
        return self._checker.is_line_free(np.array(first[0:size]), np.array(second[0:size]))


_MIN_DISTANCE = 1e-7
"""A shorter motion takes no time, because time scaling fails for very short motions [rad or m]."""


class MotionPlanner:
    """Plans motions of a chain; expensive objects are kept between requests."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._checker: CollisionChecker | None = None

    def plan(self, request: Request) -> MotionPlan:
        """Plan a motion; the same request always gives the same bits."""
        self.chain.check(request.start)
        request.limits.check(self.chain.size)
        checker = self._checker
        if checker is None:
            self._checker = checker = CollisionChecker(self.chain, request.scene)
            self._inverse = InverseKinematics(self.chain, checker)
        else:
            checker.set_scene(request.scene)
        if isinstance(request, JointMove):
            return self._joint_move(checker, request)
        return self._line_move(checker, request)

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
            trajectory=trajectory, waypoints=corners, iterations=iterations, checks=checker.checks
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
