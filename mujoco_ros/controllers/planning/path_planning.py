"""A way between two postures on which nothing touches."""

from typing import Any

import numpy as np
from ompl import base, geometric, util

from mujoco_ros.controllers.planning.collisions.collision_escape import way_out
from mujoco_ros.controllers.planning.collisions.collisions import Collisions
from mujoco_ros.controllers.planning.errors import CollisionError, NoPathError

_BEYOND = np.pi
"""How far beyond start and goal a joint may go on its way [rad or m], within its limits."""
_LONGEST = 1.0
"""Longest branch of a tree [rad]."""
_IMPROVING = 20
"""Iterations in which a way that was found is made shorter."""
_SHORTCUTS = 30

# What the planner would say goes into the errors; and that a seed is set anew is meant.
util.setLogLevel(util.LOG_NONE)


def plan_path(
    collisions: Collisions, start: np.ndarray, goal: np.ndarray, *, seed: int, iterations: int
) -> tuple[np.ndarray, int]:
    """Find a way from `start` to `goal`, and shorten it.

    The straight one if it is free, else AORRTC's (OMPL): two trees that grow towards each other,
    and a few times again for a shorter way. A start within the margin is left first, on a straight
    way out. The same arguments give the same bits.

    Args:
        collisions: What must not touch.
        start: First posture.  # (k,)
        goal: Last posture.  # (k,)
        seed: Of the planner's chance.
        iterations: After how many the planner gives up.

    Returns:
        The corners of the way, both ends included (m, k), and the iterations it took.

    Raises:
        CollisionError: Something touches at the goal, or overlaps at the start.
        NoPathError: No way was found.
    """
    touch = collisions.touching(goal)
    if touch is not None:
        raise CollisionError(f"at the goal {touch}")
    begin = start
    if not collisions.free(start):
        begin = way_out(collisions, start, goal, seed=seed)
    if iterations > 0 and collisions.way_free(begin, goal):
        corners, spent = np.stack([begin, goal]), 0
    else:
        corners, spent = _Search(collisions, begin, goal, seed).run(iterations)
    return (corners if begin is start else np.stack([start, *corners])), spent


class _Search:
    """One run of the planner, with all that belongs to it."""

    def __init__(
        self, collisions: Collisions, start: np.ndarray, goal: np.ndarray, seed: int
    ) -> None:
        # Every object of OMPL that draws numbers takes its seed from this one when it is made.
        util.RNG.setSeed(1 + seed % (2**31 - 1))
        chain = collisions.chain
        self._size = size = chain.size
        space = base.RealVectorStateSpace(size)
        bounds = base.RealVectorBounds(size)
        low, high = np.minimum(start, goal), np.maximum(start, goal)
        # A measured start may be a little beyond its limits.
        bounds.low = np.minimum(low, np.maximum(low - _BEYOND, chain.lower)).tolist()
        bounds.high = np.maximum(high, np.minimum(high + _BEYOND, chain.upper)).tolist()
        space.setBounds(bounds)
        self._space = base.SpaceInformation(space)
        self._space.setStateValidityChecker(lambda state: collisions.free(np.array(state[0:size])))
        self._validator = _Validator(self._space, collisions)
        self._space.setMotionValidator(self._validator)
        self._space.setup()
        self._problem = base.ProblemDefinition(self._space)
        self._problem.setStartAndGoalStates(self._state(start), self._state(goal))
        self._planner = geometric.AORRTC(self._space)
        self._planner.setRange(_LONGEST)
        self._planner.setProblemDefinition(self._problem)
        self._planner.setup()

    def run(self, iterations: int) -> tuple[np.ndarray, int]:
        """Return the corners of the way and the iterations made."""
        budget = _Budget(self._problem, iterations)
        self._planner.solve(base.PlannerTerminationCondition(budget))
        if not self._problem.hasExactSolution():
            raise NoPathError(f"no way was found in {budget.spent} iterations")
        path = self._problem.getSolutionPath()
        simplifier = geometric.PathSimplifier(self._space)
        simplifier.partialShortcutPath(path, _SHORTCUTS, _SHORTCUTS // 2)
        simplifier.reduceVertices(path, _SHORTCUTS, _SHORTCUTS // 2)
        corners = np.array([state[0 : self._size] for state in path.getStates()])
        return corners, budget.spent

    def _state(self, q: np.ndarray) -> Any:
        state = self._space.allocState()
        state[0 : self._size] = q.tolist()
        return state


class _Budget:
    """Asked at each iteration whether to stop: counts, where others look at the clock."""

    def __init__(self, problem: Any, iterations: int) -> None:
        self.spent = 0
        self._problem, self._left, self._found = problem, iterations, False

    def __call__(self) -> bool:
        if not self._found and self._problem.hasExactSolution():
            self._found = True
            self._left = min(self._left, _IMPROVING)
        if self._left <= 0:
            return True
        self.spent += 1
        self._left -= 1
        return False


class _Validator(base.MotionValidator):
    """Checks straight ways for the planner."""

    def __init__(self, space: Any, collisions: Collisions) -> None:
        super().__init__(space)
        self._collisions, self._size = collisions, collisions.chain.size

    def checkMotion(self, first: Any, second: Any) -> bool:  # noqa: N802 - OMPL's name
        size = self._size
        return self._collisions.way_free(np.array(first[0:size]), np.array(second[0:size]))
