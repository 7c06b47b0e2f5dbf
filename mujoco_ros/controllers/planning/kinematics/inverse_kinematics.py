"""Inverse kinematics of a chain, within joint limits and without collisions."""

from dataclasses import dataclass, replace

import mink
import numpy as np
import qpsolvers

from mujoco_ros.controllers.planning.collisions.collision_checker import (
    CollisionChecker,
    CollisionPair,
)
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.kinematics import within_limits
from mujoco_ros.controllers.planning.kinematics.limits import BlockedError, IkError
from mujoco_ros.model.pose import Pose

POSITION_TOLERANCE = 1e-6
"""Largest position error of a solution [m]; the project requires 1e-5."""
ROTATION_TOLERANCE = 1e-6
"""Largest orientation error of a solution [rad]."""
_ITERATIONS = 60
_STALL = 12  # a descent stops if the error does not halve within this number of iterations
_DAMPING = 0.1
"""Levenberg-Marquardt damping of the squared error: small steps far away, none at the goal."""
_NEAR_COST = 0.01
_REGULARIZATION = 1e-12  # makes a step unique for joints that do not move the tool
_NEAR_ABOVE = 1e-2
"""Error above which a redundant chain is attracted to the given configuration [m or rad]."""
_CLEARANCE = 1.5  # distance that a descent with collision avoidance keeps, in margins
_DETECTION = 0.05  # distance at which collision avoidance begins, beyond the clearance [m]
_AT_LIMIT = 1e-3  # a joint this close to a limit is named in the error [rad or m]
_COLLISION_FACTOR = 6  # factor on the number of starts if only collisions prevent a solution
_FAILURE_FACTOR = 2  # factor on the number of starts if no start reaches the pose
_NEAR_ENOUGH = 1.5
"""A first solution with smaller joint motions is not compared with others [rad or m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Attempt:
    q: np.ndarray  # (k,)
    error: tuple[float, float]  # [m, rad]
    collision: CollisionPair | None = None  # the deepest one

    @property
    def solved(self) -> bool:
        return self.collision is None and _converged(self.error)


class InverseKinematics:
    """Finds the solution nearest to a given configuration.

    A descent takes Newton steps; a step that would violate the limits is a quadratic program. A
    redundant chain is attracted to the given configuration. If the first descent does not end near
    it, random starts follow, and the nearest solution is used; joints with a range above one turn
    are unwound towards the given configuration.
    """

    def __init__(self, chain: Chain, checker: CollisionChecker | None = None) -> None:
        """Solve for `chain`, without collisions if there is a checker."""
        self.chain, self._checker = chain, checker
        model = chain.model if checker is None else checker.model
        self._configuration = mink.Configuration(model)
        frame = (chain.body, "body") if chain.site < 0 else (chain.site, "site")
        self._frame = mink.FrameTask(*frame, 1.0, 1.0, lm_damping=_DAMPING)
        self._dofs = np.ix_(chain.dof, chain.dof)
        self._avoidance: tuple[PlanningScene, mink.CollisionAvoidanceLimit] | None = None

    def pose(self, q: np.ndarray) -> Pose:
        """Return the tool's pose in ``world``, with all other joints as in the scene."""
        self._reset()
        self._update(q)
        return self.chain.tool_pose(self._configuration.data)

    def solve(
        self,
        pose: Pose,
        near: np.ndarray,
        *,
        starts: int = 8,
        seed: int = 0,
        ignore_collisions: bool = False,
    ) -> np.ndarray:
        """Return the configuration (k,) near `near` (k,) that brings the tool to `pose` in
        ``world``.

        There are `starts`: `near` and random ones. IkError if no configuration is within
        `POSITION_TOLERANCE` and `ROTATION_TOLERANCE`; a BlockedError if all are in collision.
        """
        self._set_target(pose, near)
        checker = None if ignore_collisions else self._checker
        random = np.random.default_rng(seed)
        attempts: list[_Attempt] = []
        solutions: list[_Attempt] = []
        start, avoiding = near, starts
        for number in range(1, 1 + _COLLISION_FACTOR * starts):
            attempts.append(_checked(self._descend(start, near), checker))
            if attempts[-1].collision is not None and checker is not None and avoiding > 0:
                avoiding -= 1  # takes ten times as long
                limit = self._avoidance_limit(checker)
                attempts.append(_checked(self._descend(start, near, limit), checker))
            solutions += attempts[-1:] if attempts[-1].solved else []
            if solutions and (number >= starts or _distance(solutions[-1].q, near) < _NEAR_ENOUGH):
                break
            # More starts are worthwhile only if some of them end in collisions.
            if number >= _FAILURE_FACTOR * starts and not any(
                attempt.collision for attempt in attempts
            ):
                break
            start = self._random_start(near, random)
        if not solutions:
            raise self._failure(pose, attempts)
        return min(solutions, key=lambda attempt: _distance(attempt.q, near)).q

    def follow(self, pose: Pose, near: np.ndarray) -> np.ndarray:
        """Return the configuration of a pose that is a small step away from the tool at `near`.

        Collisions are not checked.
        """
        self._set_target(pose, near)
        attempt = self._descend(near, near)
        if not attempt.solved:
            raise self._failure(pose, [attempt])
        return attempt.q

    def _set_target(self, pose: Pose, near: np.ndarray) -> None:
        self.chain.check(near)
        self._frame.set_target(
            mink.SE3(np.concatenate([pose.quat_wxyz, pose.position])).normalize()
        )
        self._reset()

    def _reset(self) -> None:
        """Move all joints outside the chain to their positions in the scene."""
        checker = self._checker
        qpos = self._configuration.model.qpos0 if checker is None else checker.qpos
        self._full = within_limits(self._configuration.model, qpos)

    def _avoidance_limit(self, checker: CollisionChecker) -> mink.CollisionAvoidanceLimit:
        """Return the limit that makes a descent avoid collisions."""
        if self._avoidance is None or self._avoidance[0] is not checker.scene:
            clearance = _CLEARANCE * checker.scene.margin
            limit = mink.CollisionAvoidanceLimit(
                checker.model,
                [([one], [other]) for one, other in checker.checked_pairs.tolist()],
                minimum_distance_from_collisions=clearance,
                collision_detection_distance=clearance + _DETECTION,
            )
            self._avoidance = checker.scene, limit
        return self._avoidance[1]

    def _descend(
        self, start: np.ndarray, near: np.ndarray, avoid: mink.CollisionAvoidanceLimit | None = None
    ) -> _Attempt:
        chain = self.chain
        q = np.clip(start, chain.lower, chain.upper)
        error = self._move(q)
        least, stalled = np.inf, 0
        for _ in range(_ITERATIONS):
            if _converged(error):
                break
            size = max(error)
            least, stalled = (size, 0) if size < 0.5 * least else (least, stalled + 1)
            if stalled > _STALL:
                break
            # Close to the goal, the attraction to `near` would keep the tool away from it.
            step = self._step(q, near - q if size > _NEAR_ABOVE else None, avoid)
            if step is None:
                break
            q = np.clip(q + step, chain.lower, chain.upper)
            error = self._move(q)
        return _Attempt(q=self._unwound(q, near), error=error)

    def _step(
        self, q: np.ndarray, to_near: np.ndarray | None, avoid: mink.CollisionAvoidanceLimit | None
    ) -> np.ndarray | None:
        """Return the step with the smallest error within all limits; None if there is none."""
        chain = self.chain
        hessian, slope = self._frame.compute_qp_objective(self._configuration)
        hessian, slope = hessian[self._dofs], slope[chain.dof]
        cost = 0.0 if to_near is None else _NEAR_COST**2
        hessian[np.diag_indices(chain.size)] += _REGULARIZATION + cost
        if to_near is not None:
            slope = slope - cost * to_near
        low, high = chain.lower - q, chain.upper - q
        rows, most = np.zeros((0, chain.size)), np.zeros(0)
        if avoid is not None:
            matrix, bound = map(np.asarray, avoid.compute_qp_inequalities(self._configuration, 1.0))
            active = np.flatnonzero(np.isfinite(bound))
            rows, most = matrix[np.ix_(active, chain.dof)], bound[active]
        step = np.linalg.solve(hessian, -slope)
        if (rows @ step <= most).all() and (step >= low).all() and (step <= high).all():
            return np.asarray(step)
        return qpsolvers.solve_qp(hessian, slope, rows, most, lb=low, ub=high, solver="daqp")

    def _update(self, q: np.ndarray) -> None:
        self._full[self.chain.qpos] = q
        self._configuration.update(self._full)

    def _move(self, q: np.ndarray) -> tuple[float, float]:
        """Move to a configuration; return the error of the tool [m, rad]."""
        self._update(q)
        twist = self._frame.compute_error(self._configuration)
        return float(np.linalg.norm(twist[:3])), float(np.linalg.norm(twist[3:]))

    def _random_start(self, near: np.ndarray, random: np.random.Generator) -> np.ndarray:
        chain = self.chain
        low = np.maximum(chain.lower, near - np.pi)
        high = np.maximum(low, np.minimum(chain.upper, near + np.pi))
        return np.asarray(random.uniform(low, high))

    def _unwound(self, q: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return q with whole turns of its hinges, as near to `near` as the limits allow."""
        chain = self.chain
        q = np.clip(q, chain.lower, chain.upper)
        for turns in (-2, -1, 1, 2):
            other = np.where(chain.hinge, q + 2 * np.pi * turns, q)
            allowed = (other >= chain.lower) & (other <= chain.upper)
            q = np.where(allowed & (np.abs(other - near) < np.abs(q - near)), other, q)
        return np.asarray(q)

    def _failure(self, pose: Pose, attempts: list[_Attempt]) -> IkError:
        x, y, z = pose.position
        where = f"({x:.3f}, {y:.3f}, {z:.3f})"
        collisions = [attempt.collision for attempt in attempts if attempt.collision is not None]
        if collisions:
            least = max(collisions, key=lambda collision: collision.distance)
            return BlockedError(
                f"no collision-free configuration brings {self.chain.tool} to {where}: {least}"
            )
        closest = min(attempts, key=lambda attempt: max(attempt.error))
        chain, (position, rotation) = self.chain, closest.error
        at_limit = np.minimum(closest.q - chain.lower, chain.upper - closest.q) < _AT_LIMIT
        names = [name for name, is_near in zip(chain.names, at_limit, strict=True) if is_near]
        limit = f", at the limit of {', '.join(names)}" if names else ""
        return IkError(
            f"no configuration brings {chain.tool} to {where}: the closest is "
            f"{1e3 * position:.1f} mm and {np.rad2deg(rotation):.1f}° off{limit}"
        )


def _checked(attempt: _Attempt, checker: CollisionChecker | None) -> _Attempt:
    if checker is None or not attempt.solved:
        return attempt
    return replace(attempt, collision=checker.deepest_pair(attempt.q))


def _converged(error: tuple[float, float]) -> bool:
    return error[0] <= POSITION_TOLERANCE and error[1] <= ROTATION_TOLERANCE


def _distance(q: np.ndarray, near: np.ndarray) -> float:
    return float(np.abs(q - near).max())
