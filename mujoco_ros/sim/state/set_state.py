"""Setting the state of joints, floating bases and bodies between two steps, all or nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import mujoco
import numpy as np

from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.joints import JOINT_LIMIT_SLACK, clamp_to_limits
from mujoco_ros.control.settings import OutOfLimits
from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.sim.placement import Placement, obstacle, place
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.held_actuators import hold_actuators
from mujoco_ros.sim.state.joint_couplings import CouplingConflictError, coupled_state
from mujoco_ros.sim.state.settable_joints import SettableJoint

_EQUALITY = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
_VIOLATED = 1e-3
"""Violation of an equality constraint from which on it is reported [m or rad]."""
REASON = "the state of the robot was set"
"""Reason for which goals of the robot end."""


@dataclass(frozen=True, kw_only=True)
class StateRequest:
    """What is to be set in one model; everything else keeps its state.

    Attributes:
        positions: Finite positions by joint [rad or m].
        velocities: Finite velocities by joint [rad/s or m/s].
        placements: Poses and velocities of entities.
    """

    positions: Mapping[int, float] = field(default_factory=dict)
    velocities: Mapping[int, float] = field(default_factory=dict)
    placements: tuple[tuple[Entity, Placement], ...] = ()


def set_state(
    simulation: Simulation, joints: Mapping[int, SettableJoint], request: StateRequest
) -> str:
    """Set a state; call it in the physics thread, between two steps.

    Every robot that is concerned continues as after a reset of it alone: its goals end, its
    streams, gripper and external wrenches are released, its set joints hold their new position,
    its other joints the one that they held, and the solver starts cold.

    Args:
        simulation: The simulation.
        joints: The joints of its model, by index.
        request: What to set.

    Returns:
        Remarks for the user: clamped positions, and violated equality constraints.

    Raises:
        ValueError: The request is impossible; nothing is set.
    """
    plant = simulation.plant
    model, data = plant.model, plant.data
    for entity, placement in request.placements:
        if reason := obstacle(entity, placement):
            raise CommandError(reason)
    positions, remarks = _within_limits(plant, joints, request.positions)
    try:
        positions, velocities = coupled_state(model, data, positions, request.velocities)
    except CouplingConflictError as error:
        raise CommandError(_conflict(error, joints)) from error

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
        own = [joints[it] for it in sorted(changed) if joints[it].robot == index]
        columns = np.array([it.column for it in own], dtype=np.intp)
        held = data.qpos[[model.jnt_qposadr[it.joint] for it in own]]
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
    """Return positions within the limits of their joints, and which of them were clamped.

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


def _conflict(error: CouplingConflictError, joints: Mapping[int, SettableJoint]) -> str:
    dependent, value = joints[error.dependent].name, f"{error.quantity} {error.demanded:g}"
    if error.leading is None:
        return f"joint '{dependent}' is held at {value} by the equality '{error.constraint}'"
    leading = joints[error.leading].name if error.leading in joints else "another joint"
    return (
        f"joint '{dependent}' follows joint '{leading}' by the equality '{error.constraint}', "
        f"which puts it at {value}; set '{leading}', which it follows, or both"
    )


def _robots(
    plant: Plant, changed: set[int], joints: Mapping[int, SettableJoint], request: StateRequest
) -> list[int]:
    """Return the indices of the robots whose state is set."""
    found = {robot for it in changed if (robot := joints[it].robot) is not None}
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
        f"the equality '{model.equality(it).name or f'equality{it}'}' is violated by {amount:.3g} "
        "and pulls its elements together"
        for it, amount in worst.items()
        if amount > _VIOLATED
    ]
