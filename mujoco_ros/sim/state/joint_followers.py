"""Joints that follow other joints by an equality constraint, such as mimic joints."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import mujoco

_EQUALITY = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
_TOLERANCE = 1e-3
"""Largest difference from what a constraint demands [rad or m, and per second]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Coupling:
    """An active equality constraint between a joint and its leader, or a constant (-1)."""

    name: str
    follower: int
    leader: int
    coefficients: tuple[float, ...]
    start: float  # position of the follower in qpos0
    leader_start: float

    def position(self, leader: float) -> float:
        """Return the position of the follower for that of its leader [rad or m]."""
        offset, value = leader - self.leader_start, 0.0
        for coefficient in reversed(self.coefficients):
            value = value * offset + coefficient
        return self.start + value

    def velocity(self, leader: float, leader_velocity: float) -> float:
        """Return the velocity of the follower for position and velocity of its leader."""
        offset, slope = leader - self.leader_start, 0.0
        for power in range(len(self.coefficients) - 1, 0, -1):
            slope = slope * offset + power * self.coefficients[power]
        return slope * leader_velocity

    @property
    def is_linear(self) -> bool:
        """Whether the position of the follower determines that of the leader."""
        _, slope, *higher = self.coefficients
        return self.leader >= 0 and slope != 0.0 and not any(higher)

    def inverse(self) -> "_Coupling":
        """Return a linear coupling with the roles swapped."""
        offset, slope = self.coefficients[:2]
        return _Coupling(
            name=self.name,
            follower=self.leader,
            leader=self.follower,
            coefficients=(-offset / slope, 1.0 / slope, 0.0, 0.0, 0.0),
            start=self.leader_start,
            leader_start=self.start,
        )


class FollowerConflictError(ValueError):
    """A joint is set to where an equality constraint does not leave it.

    Attributes:
        follower: Index of the joint.
        leader: Index of the joint that it follows; None if the constraint holds it.
        constraint: Name of the constraint.
        quantity: ``position`` or ``velocity``.
        demanded: The value that the constraint demands.
    """

    def __init__(self, coupling: _Coupling, quantity: str, demanded: float) -> None:
        super().__init__(coupling.name)
        self.follower, self.constraint = coupling.follower, coupling.name
        self.leader = None if coupling.leader < 0 else coupling.leader
        self.quantity, self.demanded = quantity, demanded


def followed(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    positions: Mapping[int, float],
    velocities: Mapping[int, float],
) -> tuple[dict[int, float], dict[int, float]]:
    """Return positions and velocities by joint, with those of the joints that follow.

    A joint follows its leader, along chains, unless it is set itself. With a linear constraint,
    which mimic joints and fingers have, the leader follows as well.

    Args:
        model: The model.
        data: The present state, with the constraints that are active.
        positions: Positions to set, by joint [rad or m].
        velocities: Velocities to set, by joint [rad/s or m/s].

    Raises:
        FollowerConflictError: A joint is set without its leader, and not to where that puts it.
    """
    q, v = dict(positions), dict(velocities)
    couplings = list(_couplings(model, data))
    ways = [*couplings, *(it.inverse() for it in couplings if it.is_linear)]

    def position(joint: int) -> float:
        return 0.0 if joint < 0 else q.get(joint, float(data.qpos[model.jnt_qposadr[joint]]))

    def velocity(joint: int) -> float:
        return 0.0 if joint < 0 else v.get(joint, float(data.qvel[model.jnt_dofadr[joint]]))

    while way := next((it for it in ways if it.leader in q and it.follower not in q), None):
        q[way.follower] = way.position(q[way.leader])
    reached = set(velocities)
    for joints in ((), positions):  # joints that are set without a velocity keep theirs
        reached.update(joints)
        while way := next(
            (it for it in ways if it.leader in reached and it.follower not in reached), None
        ):
            v[way.follower] = way.velocity(position(way.leader), velocity(way.leader))
            reached.add(way.follower)
    for it in couplings:
        if it.follower in q and it.leader not in q:
            _check(it, "position", q[it.follower], it.position(position(it.leader)))
        if it.follower in v and it.leader not in reached:
            demanded = it.velocity(position(it.leader), velocity(it.leader))
            _check(it, "velocity", v[it.follower], demanded)
    return q, v


def _check(coupling: _Coupling, quantity: str, value: float, demanded: float) -> None:
    if abs(value - demanded) > _TOLERANCE:
        raise FollowerConflictError(coupling, quantity, demanded)


def _couplings(model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[_Coupling]:
    if model.opt.disableflags & _EQUALITY:
        return
    for equality in range(model.neq):
        if model.eq_type[equality] != mujoco.mjtEq.mjEQ_JOINT or not data.eq_active[equality]:
            continue
        follower, leader = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        yield _Coupling(
            name=model.equality(equality).name or f"equality{equality}",
            follower=follower,
            leader=leader,
            coefficients=tuple(model.eq_data[equality, :5].tolist()),
            start=float(model.qpos0[model.jnt_qposadr[follower]]),
            leader_start=0.0 if leader < 0 else float(model.qpos0[model.jnt_qposadr[leader]]),
        )
