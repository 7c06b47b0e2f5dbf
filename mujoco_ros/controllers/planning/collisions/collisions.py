"""Whether a chain touches something: checked on a private copy of the scene, thousands of times."""

from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.collisions.elements import (
    free_address,
    free_body,
    geoms_of,
    joint_address,
)
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.kinematics.chain import Chain

_NEVER = -np.inf
_REST, _ARM, _HAND, _HELD = range(4)
_MEETS = np.array([0b0000, 0b0011, 0b0111, 0b0011])
"""Of what kinds, as bits, each of them minds being touched."""
_MOST_STEPS = 1 << 14
"""Of one straight way between two postures; more than any needs."""


class CollisionPair(NamedTuple):
    """Two geoms that are too near to each other, and their distance [m]."""

    first: str
    second: str
    distance: float

    def __str__(self) -> str:
        """Say it in words."""
        far = 1e3 * abs(self.distance)
        how = f"overlap by {far:.1f} mm" if self.distance < 0 else f"are only {far:.1f} mm apart"
        return f"{self.first} and {self.second} {how}"


class Collisions:
    """Checks postures, and straight ways between them in the joints' space.

    A posture is free if the chain, with all that hangs on it and what it holds, keeps the margin
    from everything else and does not touch itself. What does not move with the chain may touch each
    other, what is held may touch the hand (all behind the last joint), and whatever the model
    itself lets overlap is no collision.

    A way is checked so closely that no point moves farther than twice the margin between two
    checks: where both keep the margin, nothing is touched in between.

    Attributes:
        chain: The joints.
        surroundings: Where everything else is.
        model: The private copy.
        checks: Postures checked so far among these surroundings.
    """

    def __init__(self, chain: Chain, surroundings: PlanningScene) -> None:
        """Put everything where it is.

        Raises:
            ModelError: A name is not in the model.
        """
        self.chain = chain
        self.model = copy(chain.model)
        self._data = mujoco.MjData(self.model)
        self._moved = _behind(self.model, chain.dof)
        self._hand = _behind(self.model, chain.dof[-1:])
        self._quat = np.empty(4)
        self.surround(surroundings)

    def surround(self, surroundings: PlanningScene) -> None:
        """Put everything elsewhere, as if made anew; that takes a tenth of the time.

        Raises:
            ModelError: A name is not in the model.
        """
        model = self.model
        held = np.zeros(model.nbody, dtype=bool)
        address: int | None = None
        if surroundings.held is not None:
            body = free_body(model, surroundings.held.object)
            held = model.body_rootid == body
            address = free_address(model, body)
        qpos = _positions(model, surroundings)
        limit = self._least_distances(surroundings, held)
        self.surroundings, self._held, self._limit = surroundings, address, limit
        self.checks = 0
        solid = (self.chain.model.geom_contype | self.chain.model.geom_conaffinity) > 0
        self._skip(solid, held)
        model.geom_gap[:] = 0.0
        moving = (self._moved | held)[model.geom_bodyid]
        model.geom_margin[:] = np.where(moving, surroundings.margin, 0.0)
        # The engine keeps margins and masks of bodies beside those of their geoms.
        mujoco.mj_setConst(model, self._data)
        self._data.qpos[:] = qpos
        self._lever = self._levers(solid)

    @property
    def qpos(self) -> np.ndarray:
        """Return where everything is.  # (nq,)."""
        return np.array(self._data.qpos)

    @property
    def opponents(self) -> np.ndarray:
        """Return the pairs of geoms that might touch and must not.  # (n, 2)."""
        return np.argwhere(np.triu(self._limit > _NEVER))

    def free(self, q: np.ndarray, share: float = 1.0) -> bool:
        """Return whether nothing touches in a posture, if this share of the margin is enough."""
        return not len(self._hits(q, share))

    def touching(self, q: np.ndarray) -> CollisionPair | None:
        """Return what touches in a posture, the pair that is the deepest."""
        near = self.near(q)
        if not near:
            return None
        pair = min(near, key=lambda one: near[one])
        return CollisionPair(self._name(pair[0]), self._name(pair[1]), near[pair])

    def near(self, q: np.ndarray, share: float = 1.0) -> dict[tuple[int, int], float]:
        """Return pairs of geoms that do not keep a share of the margin, and their distances [m]."""
        hits = self._hits(q, share)
        near: dict[tuple[int, int], float] = {}
        contact = self._data.contact
        for pair, distance in zip(contact.geom[hits], contact.dist[hits], strict=True):
            first, second = sorted(pair.tolist())
            near[first, second] = min(float(distance), near.get((first, second), np.inf))
        return near

    def way_free(self, start: np.ndarray, goal: np.ndarray) -> bool:
        """Return whether nothing touches on a straight way; its start is not looked at."""
        way = goal - start
        return all(self.free(start + part * way) for part in _spread(self.steps(start, goal)))

    def steps(self, start: np.ndarray, goal: np.ndarray) -> int:
        """Return into how many steps a straight way is divided."""
        travel = float(np.abs(goal - start) @ self._lever)
        steps = int(np.ceil(travel / (2.0 * self.surroundings.margin)))
        return max(1, min(_MOST_STEPS, steps))

    def _hits(self, q: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Return the numbers of the contacts that must not be."""
        self.checks += 1
        model, data = self.model, self._data
        data.qpos[self.chain.qpos] = q
        mujoco.mj_kinematics(model, data)
        if self._held is not None:
            self._take_along(self._held)
        mujoco.mj_collision(model, data)
        if data.ncon == 0:
            return np.empty(0, dtype=np.intp)
        contact = data.contact
        first, second = contact.geom.T
        return np.flatnonzero(contact.dist < share * self._limit[first, second])

    def _take_along(self, address: int) -> None:
        assert self.surroundings.held is not None
        data, inner = self._data, self.surroundings.held.pose
        mujoco.mju_mat2Quat(self._quat, data.site_xmat[self.chain.site])
        mujoco.mju_mulPose(
            data.qpos[address : address + 3],
            data.qpos[address + 3 : address + 7],
            data.site_xpos[self.chain.site],
            self._quat,
            inner.position,
            inner.quat_wxyz,
        )
        mujoco.mj_kinematics(self.model, data)

    def _least_distances(self, surroundings: PlanningScene, held: np.ndarray) -> np.ndarray:
        """Return what distance each pair of geoms keeps; -inf if none.  # (ngeom, ngeom)."""
        model, chain = self.chain.model, self.chain
        root = model.body_rootid[model.jnt_bodyid[model.dof_jntid[chain.dof[0]]]]
        own = (model.body_rootid == root) | held
        own, moving = own[model.geom_bodyid], (self._moved | held)[model.geom_bodyid]
        meets = model.geom_contype[:, None] & model.geom_conaffinity
        minds = ((meets | meets.T) > 0) & (moving[:, None] | moving)
        limit = np.where(own[:, None] & own, 0.0, surroundings.margin)
        limit[~minds] = _NEVER
        for first, second in surroundings.allowed:
            one, other = geoms_of(model, first), geoms_of(model, second)
            limit[np.ix_(one, other)] = limit[np.ix_(other, one)] = _NEVER
        return limit

    def _skip(self, solid: np.ndarray, held: np.ndarray) -> None:
        """Have the engine pass over pairs of which none moves, and what is held in the hand."""
        model = self.model
        kinds = np.select([held, self._hand, self._moved], [_HELD, _HAND, _ARM], _REST)
        kind = kinds[model.geom_bodyid]
        model.geom_contype[:] = np.where(solid, 1 << kind, 0)
        model.geom_conaffinity[:] = np.where(solid, _MEETS[kind], 0)

    def _levers(self, solid: np.ndarray) -> np.ndarray:
        """Return how far a point can move at most per joint [m/rad or 1].  # (k,)."""
        model, chain = self.model, self.chain
        reach = np.zeros(model.nbody)  # of all that hangs on a body, from its origin
        far = np.linalg.norm(model.geom_pos, axis=1) + model.geom_rbound
        np.maximum.at(reach, model.geom_bodyid[solid], far[solid])
        held = self.surroundings.held
        if held is not None:
            body = free_body(model, held.object)
            far = np.linalg.norm(held.pose.position) + reach[body]
            far += np.linalg.norm(model.site_pos[chain.site])
            hand = model.site_bodyid[chain.site]
            reach[hand] = max(reach[hand], far)
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
        """Return what to call a geom that may have no name."""
        model = self.model
        return model.geom(geom).name or f"a geom of {model.body(model.geom_bodyid[geom]).name}"


def _positions(model: mujoco.MjModel, surroundings: PlanningScene) -> np.ndarray:
    """Return where everything is.  # (nq,)."""
    qpos: np.ndarray = model.qpos0.copy()
    for name, position in surroundings.joints.items():
        qpos[joint_address(model, name)] = position
    for name, pose in surroundings.objects.items():
        address = free_address(model, free_body(model, name))
        qpos[address : address + 3] = pose.position
        qpos[address + 3 : address + 7] = pose.quat_wxyz
    return qpos


def _behind(model: mujoco.MjModel, dofs: np.ndarray) -> np.ndarray:
    """Return which bodies are moved by a joint.  # (nbody,) bool."""
    moved = np.zeros(model.nbody, dtype=bool)
    moved[model.jnt_bodyid[model.dof_jntid[dofs]]] = True
    for body in range(1, model.nbody):
        moved[body] |= moved[model.body_parentid[body]]
    return moved


def _spread(count: int) -> Iterator[float]:
    """Yield 1/count, 2/count, …, 1 in an order that is soon everywhere: collisions show early."""
    yield 1.0
    stride = 1 << max(0, count - 1).bit_length()
    while stride > 1:
        stride >>= 1
        yield from (i / count for i in range(stride, count, 2 * stride))
