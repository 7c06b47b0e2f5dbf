"""Collision checks of a chain on a private copy of the model, and escapes from collisions."""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.collisions.planning_scene import (
    PlanningScene,
    free_address,
    free_body,
    geoms_of,
)
from mujoco_ros.controllers.planning.kinematics.chain import Chain, joint_id
from mujoco_ros.controllers.planning.kinematics.limits import CollisionError
from mujoco_ros.model.body_tree import carried

_NO_LIMIT = -np.inf
_REST, _ARM, _HAND, _HELD = range(4)
_COLLIDES = np.array([0b0000, 0b0011, 0b0111, 0b0011])
"""Bit mask, for each kind, of the kinds that it must not touch."""
_MAX_STEPS = 1 << 14  # upper limit of the checks of a straight line, far above any real need


class CollisionPair(NamedTuple):
    """Two geoms that are too close to each other, and their distance [m]."""

    first: str
    second: str
    distance: float

    def __str__(self) -> str:
        gap = 1e3 * abs(self.distance)
        state = f"overlap by {gap:.1f} mm" if self.distance < 0 else f"are only {gap:.1f} mm apart"
        return f"{self.first} and {self.second} {state}"


class CollisionChecker:
    """Checks configurations of a chain, and straight lines between them in joint space.

    A configuration is free if the chain, with all bodies behind it and the held object, keeps the
    margin to all other bodies and has no self-collision. Bodies that do not move with the chain may
    touch each other, the held object may touch the hand (all bodies behind the last joint), and
    pairs that the model excludes from contact do not collide.

    The checks of a line are so close that no point moves farther than twice the margin between two
    of them, so thin obstacles cannot be missed. `checks` counts them in this scene.
    """

    def __init__(self, chain: Chain, scene: PlanningScene) -> None:
        """Check `chain` in a scene; UserInputError if a name is not in the model."""
        self.chain = chain
        self.model = copy(chain.model)
        self._data = mujoco.MjData(self.model)
        bodies = self.model.dof_bodyid[chain.dof]
        self._moved, self._hand = carried(self.model, bodies), carried(self.model, bodies[-1:])
        self._quat = np.empty(4)
        self.set_scene(scene)

    def set_scene(self, scene: PlanningScene) -> None:
        """Set another scene, in a tenth of the time that a new checker takes."""
        model = self.model
        held = np.zeros(model.nbody, dtype=bool)
        address: int | None = None
        if scene.held is not None:
            body = free_body(model, scene.held.object)
            held = model.body_rootid == body
            address = free_address(model, body)
        qpos = _positions(model, scene)
        limit = self._min_distances(scene, held)
        self.scene, self._held, self._limit = scene, address, limit
        self.checks = 0
        solid = (self.chain.model.geom_contype | self.chain.model.geom_conaffinity) > 0
        self._set_masks(solid, held)
        model.geom_gap[:] = 0.0
        moving = (self._moved | held)[model.geom_bodyid]
        model.geom_margin[:] = np.where(moving, scene.margin, 0.0)
        # The engine also stores margins and masks per body.
        mujoco.mj_setConst(model, self._data)
        self._data.qpos[:] = qpos
        self._lever = self._levers(solid)

    @property
    def qpos(self) -> np.ndarray:
        """Return the positions of all joints.  # (nq,)."""
        return np.array(self._data.qpos)

    @property
    def checked_pairs(self) -> np.ndarray:
        """Return the pairs of geoms that can but must not collide.  # (n, 2)."""
        return np.argwhere(np.triu(self._limit > _NO_LIMIT))

    def is_free(self, q: np.ndarray, margin_scale: float = 1.0) -> bool:
        """Return whether a configuration keeps the margin, times a factor."""
        return not len(self._violations(q, margin_scale))

    def deepest_pair(self, q: np.ndarray) -> CollisionPair | None:
        """Return the pair within the margin with the smallest distance; None if q is free."""
        pairs = self.pairs_within(q)
        if not pairs:
            return None
        pair = min(pairs, key=lambda one: pairs[one])
        return CollisionPair(self._name(pair[0]), self._name(pair[1]), pairs[pair])

    def pairs_within(
        self, q: np.ndarray, margin_scale: float = 1.0
    ) -> dict[tuple[int, int], float]:
        """Return the pairs of geoms within the margin, times a factor, with distances [m]."""
        indices = self._violations(q, margin_scale)
        pairs: dict[tuple[int, int], float] = {}
        contact = self._data.contact
        for pair, distance in zip(contact.geom[indices], contact.dist[indices], strict=True):
            first, second = sorted(pair.tolist())
            pairs[first, second] = min(float(distance), pairs.get((first, second), np.inf))
        return pairs

    def is_line_free(self, start: np.ndarray, goal: np.ndarray) -> bool:
        """Return whether a straight line is free; its start is not checked."""
        line = goal - start
        fractions = _bisected(self.step_count(start, goal))
        return all(self.is_free(start + part * line) for part in fractions)

    def step_count(self, start: np.ndarray, goal: np.ndarray) -> int:
        """Return the number of checks of a straight line."""
        travel = float(np.abs(goal - start) @ self._lever)
        steps = int(np.ceil(travel / (2.0 * self.scene.margin)))
        return max(1, min(_MAX_STEPS, steps))

    def _violations(self, q: np.ndarray, margin_scale: float) -> np.ndarray:
        """Return the indices of the contacts within the limit of their pair."""
        self.checks += 1
        model, data = self.model, self._data
        data.qpos[self.chain.qpos] = q
        mujoco.mj_kinematics(model, data)
        if self._held is not None:
            self._move_held(self._held)
        mujoco.mj_collision(model, data)
        if data.ncon == 0:
            return np.empty(0, dtype=np.intp)
        contact = data.contact
        first, second = contact.geom.T
        return np.flatnonzero(contact.dist < margin_scale * self._limit[first, second])

    def _move_held(self, address: int) -> None:
        assert self.scene.held is not None
        data, inner = self._data, self.scene.held.pose
        position, rotation = self.chain.tool_frame(data)
        mujoco.mju_mat2Quat(self._quat, rotation)
        mujoco.mju_mulPose(
            data.qpos[address : address + 3],
            data.qpos[address + 3 : address + 7],
            position,
            self._quat,
            inner.position,
            inner.quat_wxyz,
        )
        mujoco.mj_kinematics(self.model, data)

    def _min_distances(self, scene: PlanningScene, held: np.ndarray) -> np.ndarray:
        """Return the limit of each pair's distance; -inf if it may collide.  # (ngeom, ngeom)."""
        model, chain = self.chain.model, self.chain
        root = model.body_rootid[model.jnt_bodyid[model.dof_jntid[chain.dof[0]]]]
        own = (model.body_rootid == root) | held
        own, moving = own[model.geom_bodyid], (self._moved | held)[model.geom_bodyid]
        masks = model.geom_contype[:, None] & model.geom_conaffinity
        checked = ((masks | masks.T) > 0) & (moving[:, None] | moving)
        limit = np.where(own[:, None] & own, 0.0, scene.margin)
        limit[~checked] = _NO_LIMIT
        for first, second in scene.allowed:
            one, other = geoms_of(model, first), geoms_of(model, second)
            limit[np.ix_(one, other)] = limit[np.ix_(other, one)] = _NO_LIMIT
        return limit

    def _set_masks(self, solid: np.ndarray, held: np.ndarray) -> None:
        """Exclude pairs that do not move, and the held object with the hand, in the engine."""
        model = self.model
        kinds = np.select([held, self._hand, self._moved], [_HELD, _HAND, _ARM], _REST)
        kind = kinds[model.geom_bodyid]
        model.geom_contype[:] = np.where(solid, 1 << kind, 0)
        model.geom_conaffinity[:] = np.where(solid, _COLLIDES[kind], 0)

    def _levers(self, solid: np.ndarray) -> np.ndarray:
        """Return the largest motion of a point per motion of each joint [m/rad or 1].  # (k,)."""
        model, chain = self.model, self.chain
        reach = np.zeros(model.nbody)  # of a body and its descendants, from its origin
        far = np.linalg.norm(model.geom_pos, axis=1) + model.geom_rbound
        np.maximum.at(reach, model.geom_bodyid[solid], far[solid])
        held = self.scene.held
        if held is not None:
            body = free_body(model, held.object)
            far = np.linalg.norm(held.pose.position) + reach[body]
            far += chain.tool_distance
            reach[chain.body] = max(reach[chain.body], far)
        slide = np.zeros(model.nbody)
        slides = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_SLIDE)
        np.add.at(slide, model.jnt_bodyid[slides], np.abs(model.jnt_range[slides]).max(axis=1))
        for body in np.flatnonzero(self._moved)[::-1]:
            parent = model.body_parentid[body]
            far = float(np.linalg.norm(model.body_pos[body]) + slide[body] + reach[body])
            reach[parent] = max(reach[parent], far)
        joints = model.dof_jntid[chain.dof]
        offset = np.linalg.norm(model.jnt_pos[joints], axis=1)
        return np.where(chain.hinge, reach[model.jnt_bodyid[joints]] + offset, 1.0)

    def _name(self, geom: int) -> str:
        """Return the name of a geom, or of its body."""
        model = self.model
        return model.geom(geom).name or f"a geom of {model.body(model.geom_bodyid[geom]).name}"


def _positions(model: mujoco.MjModel, scene: PlanningScene) -> np.ndarray:
    """Return the positions of all joints in a scene.  # (nq,)."""
    qpos: np.ndarray = model.qpos0.copy()
    for name, position in scene.joints.items():
        qpos[model.jnt_qposadr[joint_id(model, name)]] = position
    for name, pose in scene.objects.items():
        address = free_address(model, free_body(model, name))
        qpos[address : address + 3] = pose.position
        qpos[address + 3 : address + 7] = pose.quat_wxyz
    return qpos


def _bisected(count: int) -> Iterator[float]:
    """Yield 1/count, 2/count, …, 1 by repeated bisection, which finds collisions early."""
    yield 1.0
    stride = 1 << max(0, count - 1).bit_length()
    while stride > 1:
        stride >>= 1
        yield from (i / count for i in range(stride, count, 2 * stride))


_RESOLUTION = 1e-3  # longest motion of a point between two checks within the margin [m]
_MAX_DEPTH = 1e-3
"""Deepest overlap at the start [m]: contacts are soft, and measurements are not exact."""
_TOLERANCE = 2e-4  # a distance may decrease by this much on the escape [m]
_RANGES = (0.02, 0.05, 0.1, 0.2)  # ranges of the joints for random escapes [rad or m]
_TRIES = 40  # random escapes per range


def refinement(checker: CollisionChecker) -> int:
    """Return the factor on the number of checks for the part within the margin."""
    return int(np.ceil(2.0 * checker.scene.margin / _RESOLUTION))


def first_clear(
    checker: CollisionChecker, configurations: Iterable[np.ndarray], margin_scale: float = 1.0
) -> int | None:
    """Return the index of the first configuration of a path that keeps the margin; None if there is
    none.

    The path has steps refined by `refinement`. Before the index, the distances of pairs that are
    within the margin (times `margin_scale`) at the start only increase, and no other pair comes
    within the margin.
    """
    least: dict[tuple[int, int], float] = {}
    for number, q in enumerate(configurations):
        now = checker.pairs_within(q, margin_scale)
        if not now:
            return number
        if number == 0:
            least = dict.fromkeys(now, -_MAX_DEPTH)
        if any(distance < least.get(pair, np.inf) for pair, distance in now.items()):
            return None
        least = {pair: max(least[pair], now[pair] - _TOLERANCE) for pair in now}
    return None


def escape(
    checker: CollisionChecker, start: np.ndarray, goal: np.ndarray, *, seed: int
) -> np.ndarray:
    """Return a configuration that keeps the margin and is on a straight escape from `start`.

    Its direction is towards `goal` if that leads away, else random. CollisionError if there is a
    deep collision at the start, or no escape.
    """
    for target in _targets(checker, start, goal, np.random.default_rng(seed)):
        steps = checker.step_count(start, target) * refinement(checker)
        line = [start + part * (target - start) for part in np.linspace(0.0, 1.0, 1 + steps)]
        number = first_clear(checker, line)
        if number is not None:
            return np.asarray(line[number])
    raise CollisionError(f"at the start {checker.deepest_pair(start)}")


def _targets(
    checker: CollisionChecker, start: np.ndarray, goal: np.ndarray, random: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield configurations near `start`, the closest first."""
    far = float(np.abs(goal - start).max())
    yield start + min(1.0, _RANGES[-1] / max(far, 1e-9)) * (goal - start)
    for reach in _RANGES:
        for _ in range(_TRIES):
            target = start + random.uniform(-reach, reach, len(start))
            target = np.clip(target, checker.chain.lower, checker.chain.upper)
            if checker.is_free(target):
                yield target
