"""Which posture brings the tool somewhere."""

from dataclasses import dataclass
from functools import cached_property

import mink
import mujoco
import numpy as np

from mujoco_ros.control.pose import Pose
from mujoco_ros.motion.chain import Chain
from mujoco_ros.motion.collisions import Collisions, Touch
from mujoco_ros.motion.errors import IkError

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
_DRAWN_ABOVE = 1e-2
"""Error above which a chain with joints to spare is drawn to the given posture [m or rad]."""
_CLEARANCE = 1.5
"""What is kept away from where something touches, in margins."""
_SEEN = 0.05
"""From how far something is stayed away from [m]."""
_AT_LIMIT = 1e-3
"""A joint so close to a limit is told as the reason [rad or m]."""
_PERSISTENCE = 4
"""How many times as many starts are tried where only collisions are in the way."""
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
    touch: Touch | None = None

    @property
    def good(self) -> bool:
        return self.touch is None and _arrived(self.error)


class InverseKinematics:
    """Finds the posture nearest to a given one, within limits and free of collisions.

    Newton steps, each of them a quadratic programme that keeps the limits (mink). A chain with
    joints to spare is drawn towards the given posture. If the first start does not arrive near
    by, others are tried, and the solution nearest to the given posture is taken; joints that turn
    farther than once round are unwound towards it.
    """

    def __init__(self, chain: Chain, avoid: Collisions | None = None) -> None:
        """Look for postures of `chain`; those in which nothing touches, if `avoid` is given."""
        self.chain, self._avoid = chain, avoid
        model = chain.model if avoid is None else avoid.model
        self._full = _within(model, model.qpos0 if avoid is None else avoid.qpos)
        self._configuration = mink.Configuration(model, self._full)
        self._frame = mink.FrameTask(chain.site, "site", 1.0, 1.0, lm_damping=_DAMPING)
        cost = np.zeros(model.nv)
        cost[chain.dof] = _POSTURE_COST
        self._posture = mink.PostureTask(model, cost)
        others = np.setdiff1d(np.arange(model.nv), chain.dof).tolist()
        self._frozen = [mink.DofFreezingTask(model, others)] if others else []
        self._limits: list[mink.Limit] = [mink.ConfigurationLimit(model)]

    def solve(self, pose: Pose, near: np.ndarray, *, starts: int = 8, seed: int = 0) -> np.ndarray:
        """Return the posture that brings the tool to `pose`.

        Args:
            pose: Of the tool in ``world``.
            near: The posture to stay near to.  # (k,)
            starts: From how many postures to try: `near`, and others drawn by chance.
            seed: Of that chance.

        Returns:
            A posture that is off by `POSITION_TOLERANCE` and `ROTATION_TOLERANCE` at most.  # (k,)

        Raises:
            IkError: There is none, and why.
            ModelError: `near` is no posture of the chain.
        """
        self.chain.check(near)
        target = mink.SE3(np.concatenate([pose.quat_wxyz, pose.position]))
        self._frame.set_target(target.normalize())
        random = np.random.default_rng(seed)
        attempts: list[_Attempt] = []
        good: list[_Attempt] = []
        for number in range(_PERSISTENCE * starts):
            attempts += self._try(near if number == 0 else self._elsewhere(near, random), near)
            good += attempts[-1:] if attempts[-1].good else []
            if good and _apart(good[-1].q, near) < _NEAR_ENOUGH:
                break
            # Where all that arrives touches something, it pays to go on looking.
            if number >= starts - 1 and (good or not any(it.touch for it in attempts)):
                break
        if not good:
            raise IkError(self._reason(pose, attempts))
        return min(good, key=lambda attempt: _apart(attempt.q, near)).q

    def follow(self, pose: Pose, near: np.ndarray) -> np.ndarray:
        """Return the posture for a pose that is a small step away from that of `near`.

        Raises:
            IkError: There is none, and why.
        """
        return self.solve(pose, near, starts=1)

    @cached_property
    def _clear(self) -> list[mink.Limit]:
        """What keeps a descent away from everything, beside its limits; it takes its time."""
        if self._avoid is None:
            return []
        apart = _CLEARANCE * self._avoid.surroundings.margin
        return [
            mink.CollisionAvoidanceLimit(
                self._avoid.model,
                [self._avoid.opponents],
                minimum_distance_from_collisions=apart,
                collision_detection_distance=apart + _SEEN,
            )
        ]

    def _try(self, start: np.ndarray, near: np.ndarray) -> list[_Attempt]:
        """Return where a start leads to; if something touches there, also when keeping clear."""
        plain = self._descend(start, near, self._limits)
        if plain.touch is None:
            return [plain]
        return [plain, self._descend(start, near, [*self._limits, *self._clear])]

    def _descend(self, start: np.ndarray, near: np.ndarray, limits: list[mink.Limit]) -> _Attempt:
        configuration, chain = self._configuration, self.chain
        self._full[chain.qpos] = near
        self._posture.set_target(self._full)
        self._full[chain.qpos] = np.clip(start, chain.lower, chain.upper)
        configuration.update(self._full)
        error = self._error()
        least, waited = np.inf, 0
        for _ in range(_ITERATIONS):
            if _arrived(error):
                break
            size = max(error)
            least, waited = (size, 0) if size < 0.5 * least else (least, waited + 1)
            if waited > _PATIENCE:
                break
            # The posture would hold the tool back where it is to arrive.
            tasks = [self._frame, self._posture] if size > _DRAWN_ABOVE else [self._frame]
            try:
                step = mink.solve_ik(
                    configuration, tasks, 1.0, "daqp", limits=limits, constraints=self._frozen
                )
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(step, 1.0)
            error = self._error()
        q = self._unwound(configuration.q[chain.qpos], near)
        if not _arrived(error) or self._avoid is None:
            return _Attempt(q=q, error=error)
        return _Attempt(q=q, error=error, touch=self._avoid.touching(q))

    def _error(self) -> tuple[float, float]:
        twist = self._frame.compute_error(self._configuration)
        return float(np.linalg.norm(twist[:3])), float(np.linalg.norm(twist[3:]))

    def _elsewhere(self, near: np.ndarray, random: np.random.Generator) -> np.ndarray:
        chain = self.chain
        low = np.maximum(chain.lower, near - np.pi)
        high = np.maximum(low, np.minimum(chain.upper, near + np.pi))
        return np.asarray(random.uniform(low, high))

    def _unwound(self, q: np.ndarray, near: np.ndarray) -> np.ndarray:
        """Return the same posture with each joint turned as near to `near` as its limits allow."""
        chain = self.chain
        q = np.clip(q, chain.lower, chain.upper)
        for turns in (-2, -1, 1, 2):
            other = np.where(chain.hinge, q + 2 * np.pi * turns, q)
            allowed = (other >= chain.lower) & (other <= chain.upper)
            q = np.where(allowed & (np.abs(other - near) < np.abs(q - near)), other, q)
        return np.asarray(q)

    def _reason(self, pose: Pose, attempts: list[_Attempt]) -> str:
        x, y, z = pose.position
        where = f"({x:.3f}, {y:.3f}, {z:.3f})"
        touches = [attempt.touch for attempt in attempts if attempt.touch is not None]
        if touches:
            least = max(touches, key=lambda touch: touch.distance)
            return f"no posture that brings {self.chain.tool} to {where} is free: {least}"
        closest = min(attempts, key=lambda attempt: max(attempt.error))
        chain, (position, rotation) = self.chain, closest.error
        at_limit = np.minimum(closest.q - chain.lower, chain.upper - closest.q) < _AT_LIMIT
        names = [name for name, it in zip(chain.names, at_limit, strict=True) if it]
        limit = f", at the limit of {', '.join(names)}" if names else ""
        return (
            f"no posture brings {chain.tool} to {where}: the closest is "
            f"{1e3 * position:.1f} mm and {np.rad2deg(rotation):.1f}° off{limit}"
        )


def _within(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    """Return positions within all limits: a finger measured a hair beyond would allow no step."""
    scalar = np.isin(model.jnt_type, _SCALAR)
    joints = np.flatnonzero(scalar & (model.jnt_limited > 0))
    at, within = model.jnt_qposadr[joints], qpos.copy()
    within[at] = np.clip(qpos[at], *model.jnt_range[joints].T)
    return within


def _arrived(error: tuple[float, float]) -> bool:
    return error[0] <= POSITION_TOLERANCE and error[1] <= ROTATION_TOLERANCE


def _apart(q: np.ndarray, near: np.ndarray) -> float:
    return float(np.abs(q - near).max())
