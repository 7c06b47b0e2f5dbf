"""Setting the state of joints, floating bases and bodies between two steps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import mujoco
import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joints import JOINT_LIMIT_SLACK, clamp_to_limits
from mujoco_ros.control.settings import OutOfLimits
from mujoco_ros.model.naming import joint_name
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.sim.drives import holding_activation, holding_control
from mujoco_ros.sim.observer import Placement, obstacle, place
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.state_vector import fill_delay

_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))


@dataclass(frozen=True, kw_only=True, slots=True)
class SettableJoint:
    """A hinge or slide joint."""

    name: str  # its name in requests and messages
    joint: int  # its index in the model
    robot: int | None = None  # index of its robot; None for a joint of an object or of the world
    column: int = 0  # its index among the joints of its robot


def settable_joints(model: mujoco.MjModel, layout: ModelLayout) -> dict[str, SettableJoint]:
    """Return all scalar joints by name, the joints of robots first.

    The name of a robot's joint has the robot's namespace before it, if it has one, as in the names
    of parameters. Others have their name in the model, with dots instead of slashes.
    """
    found: dict[str, SettableJoint] = {}
    for index, robot in enumerate(layout.robots):
        pairs = zip(robot.joints.names, robot.joints.ids, strict=True)
        for column, (own_name, joint) in enumerate(pairs):
            name = joint_name(robot.namespace, own_name)
            found[name] = SettableJoint(name=name, joint=int(joint), robot=index, column=column)
    taken = {settable.joint for settable in found.values()}
    for joint in range(model.njnt):
        if joint in taken or model.jnt_type[joint] not in _SCALAR:
            continue
        name = model.joint(joint).name.replace("/", ".") or f"joint{joint}"
        while name in found:
            name += "_joint"
        found[name] = SettableJoint(name=name, joint=joint)
    return found


_EQUALITIES_DISABLED = int(mujoco.mjtDisableBit.mjDSBL_EQUALITY)
_TOLERANCE = 1e-3  # largest difference from what a constraint demands [rad or m, and per second]


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
        """Return the position of the dependent joint [rad or m]."""
        return self.start + float(polyval(leading - self.leading_start, self.coefficients))

    def velocity(self, leading: float, leading_velocity: float) -> float:
        """Return the velocity of the dependent joint for the state of the leading one."""
        slope = polyval(leading - self.leading_start, polyder(self.coefficients))
        return float(slope) * leading_velocity

    @property
    def is_linear(self) -> bool:
        """Whether the position of the dependent joint determines where the leading one is."""
        _, slope, *higher = self.coefficients
        return self.leading >= 0 and slope != 0.0 and not any(higher)

    def inverse(self) -> "_Coupling":
        offset, slope = self.coefficients[:2]
        return _Coupling(
            name=self.name,
            dependent=self.leading,
            leading=self.dependent,
            coefficients=(-offset / slope, 1.0 / slope, 0.0, 0.0, 0.0),
            start=self.leading_start,
            leading_start=self.start,
        )


def coupled_state(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    positions: Mapping[int, float],
    velocities: Mapping[int, float],
    names: Mapping[int, str],
) -> tuple[dict[int, float], dict[int, float]]:
    """Return positions and velocities by joint, also of the joints that follow others.

    A joint follows the leading one, along chains, unless it is set itself; a joint that is set
    without the leading one must be set to its place. With a linear constraint, which mimic joints
    and fingers have, the leading one follows as well. `names` are for messages.
    """
    q, v = dict(positions), dict(velocities)
    couplings = list(_couplings(model, data))
    ways = [*couplings, *(coupling.inverse() for coupling in couplings if coupling.is_linear)]

    def position(joint: int) -> float:
        return 0.0 if joint < 0 else q.get(joint, float(data.qpos[model.jnt_qposadr[joint]]))

    def velocity(joint: int) -> float:
        return 0.0 if joint < 0 else v.get(joint, float(data.qvel[model.jnt_dofadr[joint]]))

    while way := next((way for way in ways if way.leading in q and way.dependent not in q), None):
        q[way.dependent] = way.position(q[way.leading])
    reached = set(velocities)
    for joints in ((), positions):  # joints that are set without a velocity keep theirs
        reached.update(joints)
        while way := next(
            (way for way in ways if way.leading in reached and way.dependent not in reached), None
        ):
            v[way.dependent] = way.velocity(position(way.leading), velocity(way.leading))
            reached.add(way.dependent)
    for coupling in couplings:
        if coupling.dependent in q and coupling.leading not in q:
            demanded = coupling.position(position(coupling.leading))
            _check(coupling, "position", q[coupling.dependent], demanded, names)
        if coupling.dependent in v and coupling.leading not in reached:
            demanded = coupling.velocity(position(coupling.leading), velocity(coupling.leading))
            _check(coupling, "velocity", v[coupling.dependent], demanded, names)
    return q, v


def _check(
    coupling: _Coupling, quantity: str, value: float, demanded: float, names: Mapping[int, str]
) -> None:
    """Reject a value of a dependent joint that its equality constraint does not leave there."""
    if abs(value - demanded) <= _TOLERANCE:
        return
    dependent, place = names[coupling.dependent], f"{quantity} {demanded:g}"
    if coupling.leading < 0:
        raise CommandError(
            f"joint '{dependent}' is held at {place} by the equality '{coupling.name}'"
        )
    leading = names.get(coupling.leading, "another joint")
    raise CommandError(
        f"joint '{dependent}' follows joint '{leading}' by the equality '{coupling.name}', "
        f"which puts it at {place}; set '{leading}', which it follows, or both"
    )


def _couplings(model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[_Coupling]:
    if model.opt.disableflags & _EQUALITIES_DISABLED:
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


_MOVED = 1e-9  # smallest change of the length of an actuator that counts [m or rad]


def hold_actuators(plant: Plant, lengths: np.ndarray) -> None:
    """Make the actuators whose length was changed hold their new length, as a reset does.

    Servos on tendons and sites get the control, and filters and integrators the activation, that
    hold it; integral terms are cleared. Muscles and plugins keep their state. The state is
    evaluated, and the references hold it; `lengths` (noutput,) are from before.
    """
    model, data = plant.model, plant.data
    changed = np.abs(data.actuator_length - lengths) > _MOVED
    owners = np.repeat(np.arange(model.nactuator), model.actuator_outnum)  # of the outputs
    moved = np.unique(owners[changed]).tolist()
    if not moved:
        return
    driven = set(plant.drives.slots.tolist())
    plant.drives.write(plant.references, data.ctrl)
    for actuator in moved:
        is_muscle = model.actuator_dyntype[actuator] == mujoco.mjtDyn.mjDYN_MUSCLE
        if is_muscle or model.actuator_plugin[actuator] >= 0:
            continue
        slot, first = int(model.actuator_ctrladr[actuator]), int(model.actuator_actadr[actuator])
        control = holding_control(model, data, actuator)
        if control is not None and slot not in driven:
            data.ctrl[slot] = control
        if first >= 0:
            data.act[first : first + int(model.actuator_actnum[actuator])] = 0.0
            activation = holding_activation(model, data, data.ctrl, actuator)
            data.act[first] = 0.0 if activation is None else activation
        fill_delay(model, data, actuator, data.ctrl)


_EQUALITY = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
_VIOLATED = 1e-3  # violation of an equality constraint from which on it is reported [m or rad]
REASON = "the state of the robot was set"
"""Reason for which goals of the robot end."""


@dataclass(frozen=True, kw_only=True)
class StateRequest:
    """What is to be set in one model; everything else keeps its state."""

    # Finite positions by joint [rad or m]
    positions: Mapping[int, float] = field(default_factory=dict)
    # Finite velocities by joint [rad/s or m/s]
    velocities: Mapping[int, float] = field(default_factory=dict)
    placements: tuple[tuple[Entity, Placement], ...] = ()  # poses and velocities of entities


def set_state(
    simulation: Simulation, joints: Mapping[int, SettableJoint], request: StateRequest
) -> str:
    """Set a state, in the physics thread between two steps, or raise `ValueError` and set nothing.

    Every robot whose state is set continues as if it alone were reset: its goals end, its streams,
    gripper and external wrenches are released, its set joints hold their new position, its other
    joints the one that they held, and the solver starts cold. The result are remarks for the user:
    clamped positions, and violated equality constraints.
    """
    plant = simulation.plant
    model, data = plant.model, plant.data
    for entity, placement in request.placements:
        if reason := obstacle(entity, placement):
            raise CommandError(reason)
    positions, remarks = _within_limits(plant, joints, request.positions)
    names = {joint: settable.name for joint, settable in joints.items()}
    positions, velocities = coupled_state(model, data, positions, request.velocities, names)
    changed = {*positions, *velocities}
    robots = _robots(plant, changed, joints, request)
    plant.evaluate()
    lengths = data.actuator_length.copy()
    for joint, position in positions.items():
        data.qpos[model.jnt_qposadr[joint]] = position
    for joint, velocity in velocities.items():
        data.qvel[model.jnt_dofadr[joint]] = velocity
    for entity, placement in request.placements:
        place(data, entity, placement)
    for index in robots:
        own = [joints[joint] for joint in sorted(changed) if joints[joint].robot == index]
        columns = np.array([settable.column for settable in own], dtype=np.intp)
        held = data.qpos[[model.jnt_qposadr[settable.joint] for settable in own]]
        simulation.hold_robot(index, columns, held, REASON)
    _forget_warm_start(plant, changed, robots, request)
    plant.evaluate()
    hold_actuators(plant, lengths)
    simulation.note_state()
    if request.placements or positions:
        remarks += _violations(plant)
    return "; ".join(remarks)


def _within_limits(
    plant: Plant, joints: Mapping[int, SettableJoint], positions: Mapping[int, float]
) -> tuple[dict[int, float], list[str]]:
    """Return positions within the limits of their joints, and remarks about the clamped ones.

    Limits are soft: a simulated joint exceeds them a little, and such a position is set as it is.
    """
    model, found, remarks = plant.model, dict(positions), []
    for joint, position in positions.items():
        if not model.jnt_limited[joint]:
            continue
        robot, name = joints[joint].robot, f"joint '{joints[joint].name}'"
        handling: OutOfLimits = "refuse"
        if robot is not None:
            handling = plant.controls[robot].stream.out_of_limits
        low, high = model.jnt_range[joint].reshape(2, 1)
        within, clamped = clamp_to_limits(
            np.array([position]), low, high, partial(_same, name), handling
        )
        if abs(position - within[0]) > JOINT_LIMIT_SLACK:
            found[joint] = float(within[0])
            remarks.append(clamped.text)
    return found, remarks


def _same(name: str, _column: int) -> str:
    return name


def _robots(
    plant: Plant, changed: set[int], joints: Mapping[int, SettableJoint], request: StateRequest
) -> list[int]:
    found = {robot for joint in changed if (robot := joints[joint].robot) is not None}
    for entity, _ in request.placements:
        if entity.kind is EntityKind.ROBOT:
            names = [robot.name for robot in plant.layout.robots]
            found.add(names.index(entity.name))
    return sorted(found)


def _forget_warm_start(
    plant: Plant, changed: set[int], robots: list[int], request: StateRequest
) -> None:
    """Zero the warm start of the solver for everything that was set."""
    model = plant.model
    bodies = {int(model.jnt_bodyid[joint]) for joint in changed}
    bodies.update(body for entity, _ in request.placements for body in entity.bodies)
    trees = np.unique(model.body_treeid[sorted(bodies)])
    cold = np.isin(model.dof_treeid, trees[trees >= 0])
    for index in robots:
        cold |= np.isin(model.dof_bodyid, plant.layout.robots[index].bodies)
    plant.data.qacc_warmstart[cold] = 0.0


def _violations(plant: Plant) -> list[str]:
    """Return which active equality constraints the evaluated state violates."""
    model, data = plant.model, plant.data
    rows = np.flatnonzero(data.efc_type == _EQUALITY)
    worst: dict[int, float] = {}
    for row in rows:
        equality, amount = int(data.efc_id[row]), abs(float(data.efc_pos[row]))
        worst[equality] = max(amount, worst.get(equality, 0.0))
    return [
        f"the equality '{model.equality(equality).name or f'equality{equality}'}' is violated by "
        f"{amount:.3g} and pulls its elements together"
        for equality, amount in worst.items()
        if amount > _VIOLATED
    ]
