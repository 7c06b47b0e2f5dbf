"""Which posture brings the tool somewhere."""

from dataclasses import dataclass, replace

import mink
import mujoco
import numpy as np
import qpsolvers

from mujoco_ros.controllers.planning.collisions.collisions import CollisionPair, Collisions
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.errors import BlockedError, IkError
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.kinematics import site_pose
from mujoco_ros.model.pose import Pose

_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
POSITION_TOLERANCE = 1e-6
"""How far off a solution may be [m]; what is asked of the project is 1e-5."""
ROTATION_TOLERANCE = 1e-6
"""Likewise [rad]."""
_ITERATIONS = 60
_PATIENCE = 12
"""Iterations in which the error has to halve."""
_DAMPING = 0.1
"""Levenberg-Marquardt, on the squared error: it keeps steps small far away, and fades out."""
_POSTURE_COST = 0.01
_EASE = 1e-12
"""Added so that a step is one number also where the tool minds no joint."""
_DRAWN_ABOVE = 1e-2
"""Error above which a chain with joints to spare is drawn to the given posture [m or rad]."""
_CLEARANCE = 1.5
"""What is kept away from where something touches, in margins."""
_SEEN = 0.05
"""From how far something is stayed away from [m]."""
_AT_LIMIT = 1e-3
"""A joint so close to a limit is told as the reason [rad or m]."""
_PERSISTENCE = 6
"""How many times as many starts are tried where only collisions are in the way."""
_DOUBT = 2
"""Likewise where nothing arrives."""
_NEAR_ENOUGH = 1.5
"""A first solution whose joints moved less is not compared with others [rad or m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Attempt:
    """Where one start has led to.

    Attributes:
        q: The posture.  # (k,)
        error: Distance and angle that are left [m, rad].
        touch: What touches there.
    """

    q: np.ndarray
    error: tuple[float, float]
    touch: CollisionPair | None = None

    @property
    def good(self) -> bool:
        return self.touch is None and _arrived(self.error)


class InverseKinematics:
    """Finds the posture nearest to a given one, within limits and free of collisions.

    Newton steps; one that would leave the limits is a quadratic programme that keeps them. A chain
    with joints to spare is drawn towards the given posture. If the first start does not arrive near
    by, others are tried, and the solution nearest to the given posture is taken; joints that turn
    farther than once round are unwound towards it.
    """

    def __init__(self, chain: Chain, avoid: Collisions | None = None) -> None:
        """Look for postures of `chain`; those in which nothing touches, if `avoid` is given."""
        self.chain, self._avoid = chain, avoid
        model = chain.model if avoid is None else avoid.model
        self._configuration = mink.Configuration(model)
        self._frame = mink.FrameTask(chain.site, "site", 1.0, 1.0, lm_damping=_DAMPING)
        self._dofs = np.ix_(chain.dof, chain.dof)
        joints = np.flatnonzero(np.isin(model.jnt_type, _SCALAR) & (model.jnt_limited > 0))
        self._limited, self._ranges = model.jnt_qposadr[joints], model.jnt_range[joints].T
        self._apart: tuple[PlanningScene, mink.CollisionAvoidanceLimit] | None = None

    def pose(self, q: np.ndarray) -> Pose:
        """Return the tool's pose in ``world``, with all other joints where they are by now."""
        self._arrange()
        self._put(q)
        return site_pose(self._configuration.data, self.chain.site)

    def solve(
        self,
        pose: Pose,
        near: np.ndarray,
        *,
        starts: int = 8,
        seed: int = 0,
        blind: bool = False,
    ) -> np.ndarray:
        """Return the posture that brings the tool to `pose`.

        Args:
            pose: Of the tool in ``world``.
            near: The posture to stay near to.  # (k,)
            starts: From how many postures to try: `near`, and others drawn by chance.
            seed: Of that chance.
            blind: Whether everything may touch.

        Returns:
            A posture that is off by `POSITION_TOLERANCE` and `ROTATION_TOLERANCE` at most.  # (k,)

        Raises:
            IkError: There is none, and why; a BlockedError if something touches in all there are.
            ModelError: `near` is no posture of the chain.
        """
        self._aim(pose, near)
        avoid = None if blind else self._avoid
        random = np.random.default_rng(seed)
        attempts: list[_Attempt] = []
        good: list[_Attempt] = []
        start, clearing = near, starts
        for number in range(1, 1 + _PERSISTENCE * starts):
            attempts.append(_checked(self._descend(start, near), avoid))
            if attempts[-1].touch is not None and avoid is not None and clearing > 0:
                clearing -= 1  # it takes ten times as long
                attempts.append(_checked(self._descend(start, near, self._clear(avoid)), avoid))
            good += attempts[-1:] if attempts[-1].good else []
            if good and (number >= starts or _apart(good[-1].q, near) < _NEAR_ENOUGH):
                break
            # Where all that arrives touches something, it pays to go on looking.
            if number >= _DOUBT * starts and not any(it.touch for it in attempts):
                break
            start = self._elsewhere(near, random)
        if not good:
            raise self._failure(pose, attempts)
        return min(good, key=lambda attempt: _apart(attempt.q, near)).q

    def follow(self, pose: Pose, near: np.ndarray) -> np.ndarray:
        """Return the posture for a pose that is a small step away from that of `near`.

        Whether something touches there is not looked at.

        Raises:
            IkError: There is none, and why.
        """
        self._aim(pose, near)
        attempt = self._descend(near, near)
        if not attempt.good:
            raise self._failure(pose, [attempt])
        return attempt.q

    def _aim(self, pose: Pose, near: np.ndarray) -> None:
        """Begin anew: with everything else where it is by now."""
        self.chain.check(near)
        self._frame.set_target(
            mink.SE3(np.concatenate([pose.quat_wxyz, pose.position])).normalize()
        )
        self._arrange()

    def _arrange(self) -> None:
        avoid = self._avoid
        self._full = self._within(self._configuration.model.qpos0 if avoid is None else avoid.qpos)

    def _clear(self, avoid: Collisions) -> mink.CollisionAvoidanceLimit:
        """Return what keeps a descent away from everything."""
        if self._apart is None or self._apart[0] is not avoid.surroundings:
            apart = _CLEARANCE * avoid.surroundings.margin
            limit = mink.CollisionAvoidanceLimit(
                avoid.model,
                [([one], [other]) for one, other in avoid.opponents.tolist()],
                minimum_distance_from_collisions=apart,
                collision_detection_distance=apart + _SEEN,
            )
            self._apart = avoid.surroundings, limit
        return self._apart[1]

    def _descend(
        self, start: np.ndarray, near: np.ndarray, clear: mink.CollisionAvoidanceLimit | None = None
    ) -> _Attempt:
        chain = self.chain
        q = np.clip(start, chain.lower, chain.upper)
        error = self._off(q)
        least, waited = np.inf, 0
        for _ in range(_ITERATIONS):
            if _arrived(error):
                break
            size = max(error)
            least, waited = (size, 0) if size < 0.5 * least else (least, waited + 1)
            if waited > _PATIENCE:
                break
            # The posture would hold the tool back where it is to arrive.
            step = self._step(q, near - q if size > _DRAWN_ABOVE else None, clear)
            if step is None:
                break
            q = np.clip(q + step, chain.lower, chain.upper)
            error = self._off(q)
        return _Attempt(q=self._unwound(q, near), error=error)

    def _step(
        self,
        q: np.ndarray,
        drawn: np.ndarray | None,
        clear: mink.CollisionAvoidanceLimit | None,
    ) -> np.ndarray | None:
        """Return the step that brings the tool nearest, within all limits; None if none does."""
        chain = self.chain
        hessian, slope = self._frame.compute_qp_objective(self._configuration)
        hessian, slope = hessian[self._dofs], slope[chain.dof]
        stiff = _EASE if drawn is None else _EASE + _POSTURE_COST**2
        hessian[np.diag_indices(chain.size)] += stiff
        if drawn is not None:
            slope = slope - _POSTURE_COST**2 * drawn
        low, high = chain.lower - q, chain.upper - q
        rows, most = np.zeros((0, chain.size)), np.zeros(0)
        if clear is not None:
            matrix, bound = map(np.asarray, clear.compute_qp_inequalities(self._configuration, 1.0))
            near = np.flatnonzero(np.isfinite(bound))
            rows, most = matrix[np.ix_(near, chain.dof)], bound[near]
        step = np.linalg.solve(hessian, -slope)
        if (rows @ step <= most).all() and (step >= low).all() and (step <= high).all():
            return np.asarray(step)
        return qpsolvers.solve_qp(hessian, slope, rows, most, lb=low, ub=high, solver="daqp")

    def _put(self, q: np.ndarray) -> None:
        self._full[self.chain.qpos] = q
        self._configuration.update(self._full)

    def _off(self, q: np.ndarray) -> tuple[float, float]:
        """Take a posture; return how far off the tool is [m, rad]."""
        self._put(q)
        twist = self._frame.compute_error(self._configuration)
        return float(np.linalg.norm(twist[:3])), float(np.linalg.norm(twist[3:]))

    def _elsewhere(self, near: np.ndarray, random: np.random.Generator) -> np.ndarray:
        chain = self.chain
        low = np.maximum(chain.lower, near - np.pi)
        high = np.maximum(low, np.minimum(chain.upper, near + np.pi))
        return np.asarray(random.uniform(low, high))

    def _within(self, qpos: np.ndarray) -> np.ndarray:
        """Return positions within all limits: a finger may be measured a hair beyond."""
        within = qpos.copy()
        within[self._limited] = np.clip(qpos[self._limited], *self._ranges)
        return within

    def _unwound(self, q: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return the same posture with each joint turned as near to `near` as its limits allow."""
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
        touches = [attempt.touch for attempt in attempts if attempt.touch is not None]
        if touches:
            least = max(touches, key=lambda touch: touch.distance)
            return BlockedError(
                f"no posture that brings {self.chain.tool} to {where} is free: {least}"
            )
        closest = min(attempts, key=lambda attempt: max(attempt.error))
        chain, (position, rotation) = self.chain, closest.error
        at_limit = np.minimum(closest.q - chain.lower, chain.upper - closest.q) < _AT_LIMIT
        names = [name for name, it in zip(chain.names, at_limit, strict=True) if it]
        limit = f", at the limit of {', '.join(names)}" if names else ""
        return IkError(
            f"no posture brings {chain.tool} to {where}: the closest is "
            f"{1e3 * position:.1f} mm and {np.rad2deg(rotation):.1f}° off{limit}"
        )


def _checked(attempt: _Attempt, avoid: Collisions | None) -> _Attempt:
    if avoid is None or not attempt.good:
        return attempt
    return replace(attempt, touch=avoid.touching(attempt.q))


def _arrived(error: tuple[float, float]) -> bool:
    return error[0] <= POSITION_TOLERANCE and error[1] <= ROTATION_TOLERANCE


def _apart(q: np.ndarray, near: np.ndarray) -> float:
    return float(np.abs(q - near).max())
