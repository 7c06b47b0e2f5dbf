"""Joints that follow other joints by an equality constraint, such as mimic joints."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import mujoco

_EQUALITY = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
_TOLERANCE = 1e-3
"""Largest difference from what a constraint demands [rad or m, and per second]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Coupling:
    """An active equality constraint between a joint and the leading one, or a constant (-1)."""

    name: str
    dependent: int
    leading: int
    coefficients: tuple[float, ...]
    start: float  # position of the dependent joint in qpos0
    leading_start: float

    def position(self, leading: float) -> float:
        """Return the position of the dependent joint for that of the leading one [rad or m]."""
        offset, value = leading - self.leading_start, 0.0
        for coefficient in reversed(self.coefficients):
            value = value * offset + coefficient
        return self.start + value

    def velocity(self, leading: float, leading_velocity: float) -> float:
        """Return the velocity of the dependent joint for the state of the leading one."""
        offset, slope = leading - self.leading_start, 0.0
        for power in range(len(self.coefficients) - 1, 0, -1):
            slope = slope * offset + power * self.coefficients[power]
        return slope * leading_velocity

    @property
    def is_linear(self) -> bool:
        """Whether the position of the dependent joint determines that of the leading one."""
        _, slope, *higher = self.coefficients
        return self.leading >= 0 and slope != 0.0 and not any(higher)

    def inverse(self) -> "_Coupling":
        """Return a linear coupling with the roles swapped."""
        offset, slope = self.coefficients[:2]
        return _Coupling(
            name=self.name,
            dependent=self.leading,
            leading=self.dependent,
            coefficients=(-offset / slope, 1.0 / slope, 0.0, 0.0, 0.0),
            start=self.leading_start,
            leading_start=self.start,
        )


class CouplingConflictError(ValueError):
    """A joint is set to where an equality constraint does not leave it.

    Attributes:
        dependent: Index of the joint.
        leading: Index of the joint that it follows; None if the constraint holds it.
        constraint: Name of the constraint.
        quantity: ``position`` or ``velocity``.
        demanded: The value that the constraint demands.
    """

    def __init__(self, coupling: _Coupling, quantity: str, demanded: float) -> None:
        super().__init__(coupling.name)
        self.dependent, self.constraint = coupling.dependent, coupling.name
        self.leading = None if coupling.leading < 0 else coupling.leading
        self.quantity, self.demanded = quantity, demanded


def coupled_state(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    positions: Mapping[int, float],
    velocities: Mapping[int, float],
) -> tuple[dict[int, float], dict[int, float]]:
    """Return positions and velocities by joint, with those of the joints that follow.

    A joint follows the leading one, along chains, unless it is set itself. With a linear
    constraint, which mimic joints and fingers have, the leading one follows as well.

    Args:
        model: The model.
        data: The present state, with the constraints that are active.
        positions: Positions to set, by joint [rad or m].
        velocities: Velocities to set, by joint [rad/s or m/s].

    Raises:
        CouplingConflictError: A joint is set without the leading one, and not to its place.
    """
    q, v = dict(positions), dict(velocities)
    couplings = list(_couplings(model, data))
    ways = [*couplings, *(it.inverse() for it in couplings if it.is_linear)]

    def position(joint: int) -> float:
        return 0.0 if joint < 0 else q.get(joint, float(data.qpos[model.jnt_qposadr[joint]]))

    def velocity(joint: int) -> float:
        return 0.0 if joint < 0 else v.get(joint, float(data.qvel[model.jnt_dofadr[joint]]))

    while way := next((it for it in ways if it.leading in q and it.dependent not in q), None):
        q[way.dependent] = way.position(q[way.leading])
    reached = set(velocities)
    for joints in ((), positions):  # joints that are set without a velocity keep theirs
        reached.update(joints)
        while way := next(
            (it for it in ways if it.leading in reached and it.dependent not in reached), None
        ):
            v[way.dependent] = way.velocity(position(way.leading), velocity(way.leading))
            reached.add(way.dependent)
    for it in couplings:
        if it.dependent in q and it.leading not in q:
            _check(it, "position", q[it.dependent], it.position(position(it.leading)))
        if it.dependent in v and it.leading not in reached:
            demanded = it.velocity(position(it.leading), velocity(it.leading))
            _check(it, "velocity", v[it.dependent], demanded)
    return q, v


def _check(coupling: _Coupling, quantity: str, value: float, demanded: float) -> None:
    if abs(value - demanded) > _TOLERANCE:
        raise CouplingConflictError(coupling, quantity, demanded)


def _couplings(model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[_Coupling]:
    if model.opt.disableflags & _EQUALITY:
        return
    for equality in range(model.neq):
        if model.eq_type[equality] != mujoco.mjtEq.mjEQ_JOINT or not data.eq_active[equality]:
            continue
        dependent, leading = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        yield _Coupling(
            name=model.equality(equality).name or f"equality{equality}",
            dependent=dependent,
            leading=leading,
            coefficients=tuple(model.eq_data[equality, :5].tolist()),
            start=float(model.qpos0[model.jnt_qposadr[dependent]]),
            leading_start=0.0 if leading < 0 else float(model.qpos0[model.jnt_qposadr[leading]]),
        )
