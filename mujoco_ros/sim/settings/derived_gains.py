"""PD gains derived from the joint-space inertia, for robots without a gains file."""

from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.control.gains import LARGEST_GAIN, Gains
from mujoco_ros.model.robot.actuator_limits import joint_effort
from mujoco_ros.model.robot.gain_rule import BANDWIDTH_HZ, DAMPING_RATIO, LEAST_INERTIA
from mujoco_ros.model.robot.layout import Joints

_IMPLICIT = (
    int(mujoco.mjtIntegrator.mjINT_IMPLICIT),
    int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST),
    int(mujoco.mjtIntegrator.mjINT_DISCRETE),
)
_SAMPLES = 32
# Part of the limit of stability that the damping uses with an explicit integrator.
_EXPLICIT_MARGIN = 0.5


class DerivedGains(NamedTuple):
    """Gains of driven joints.

    Attributes:
        used: The gains that are stable with the timestep.
        wanted: The gains of the rule, which are at least as large.
    """

    used: Gains
    wanted: Gains


def derive_gains(
    model: mujoco.MjModel, qpos: np.ndarray, robot: Joints, servo: np.ndarray, timestep: float
) -> DerivedGains:
    """Derive the gains of joints as ``kp = J w²`` and ``kd = 2 z J w - d``.

    w is the natural frequency, z the damping ratio, d the damping of the joint in the model. J is
    at least what d demands for the same frequency and ratio, so that such a joint is not slow.

    With an implicit integrator, J is the largest inertia that the joint carries with the other
    joints locked, over the start and random configurations within the position limits, and at least
    `LEAST_INERTIA`. Armature and the joints that mimic it are included. Such gains are stable while
    ``w·timestep < 4 z``, whatever the inertia. A drive at its torque limit, however, is integrated
    explicitly, and would alternate between its limits for ever where ``kd·timestep`` exceeds twice
    the inertia; hence J of a limited drive is at most ``1 / (z w timestep)`` times the smallest
    inertia.

    With an explicit integrator, J is the inertia with all other joints free, in the start, and w is
    reduced to what is stable with the coupling of the joints there.

    Args:
        model: The model.
        qpos: Configuration at the start.  # (nq,)
        robot: Scalar joints of the robot.
        servo: Indices of the driven ones in `robot`.  # (n,)
        timestep: Simulated time between steps [s].

    Returns:
        Gains of the driven joints.  # (n,)
    """
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    wanted_rate = 2.0 * np.pi * BANDWIDTH_HZ
    if int(model.opt.integrator) in _IMPLICIT:
        rate = min(wanted_rate, DAMPING_RATIO / timestep)
        smallest, largest = _locked_inertia(model, data, robot, servo)
        least = [LEAST_INERTIA[mujoco.mjtJoint(model.jnt_type[j])] for j in robot.ids[servo]]
        limited = np.isfinite([joint_effort(model, int(joint)) for joint in robot.ids[servo]])
        most = np.where(limited, smallest / (DAMPING_RATIO * rate * timestep), np.inf)
        wanted_inertia = np.maximum(largest, least)
        inertia = np.minimum(wanted_inertia, most)
    else:
        wanted_inertia, coupling = _free_inertia(model, data, robot.dof[servo])
        inertia = wanted_inertia
        rate = min(wanted_rate, _EXPLICIT_MARGIN / (DAMPING_RATIO * coupling * timestep))
    damping = model.dof_damping[robot.dof[servo]]
    return DerivedGains(
        _gains(inertia, rate, damping), _gains(wanted_inertia, wanted_rate, damping)
    )


def _gains(inertia: np.ndarray, rate: float, damping: np.ndarray) -> Gains:
    needed = np.maximum(2.0 * DAMPING_RATIO * inertia * rate, damping)
    return Gains(
        kp=np.minimum(needed * rate / (2.0 * DAMPING_RATIO), LARGEST_GAIN),
        kd=np.minimum(needed - damping, LARGEST_GAIN),
    )


def _locked_inertia(
    model: mujoco.MjModel, data: mujoco.MjData, robot: Joints, servo: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and largest inertia about driven joints with the others locked.

    Each is over the present and random configurations.  # (n,)
    """
    random = np.random.default_rng(0)
    start, limits = data.qpos[robot.qpos].copy(), model.jnt_range[robot.ids].T.copy()
    limited = model.jnt_limited[robot.ids].astype(bool)
    turns = model.jnt_type[robot.ids] == int(mujoco.mjtJoint.mjJNT_HINGE)
    limits[:, ~limited] = np.where(turns[~limited], [[-np.pi], [np.pi]], start[~limited])
    moving = _moved_dofs(model, robot.dof[servo])
    diagonal = model.M_rowadr + model.M_rownnz - 1
    smallest, largest = np.full(len(servo), np.inf), np.zeros(len(servo))
    moved = np.zeros(model.nv)
    for sample in range(_SAMPLES):
        if sample:
            data.qpos[robot.qpos] = random.uniform(*limits)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_makeM(model, data)
        inertia = data.M[diagonal[robot.dof[servo]]]
        np.minimum(smallest, inertia, out=smallest)
        for index, direction in moving.items():
            mujoco.mj_mulM(model, data, moved, direction)
            inertia[index] = direction @ moved
        np.maximum(largest, inertia, out=largest)
    return smallest, largest


def _moved_dofs(model: mujoco.MjModel, dofs: np.ndarray) -> dict[int, np.ndarray]:
    """Return the velocities of all joints at unit velocity of a joint that others mimic.

    Args:
        model: The model.
        dofs: Addresses of joints in qvel.  # (n,)

    Returns:
        Velocities (nv,) by index in `dofs`, for the joints that others mimic.
    """
    moved: dict[int, np.ndarray] = {}
    index_of = {int(dof): index for index, dof in enumerate(dofs)}
    for row in np.flatnonzero(model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)):
        mimic, leader = int(model.eq_obj1id[row]), int(model.eq_obj2id[row])
        index = index_of.get(int(model.jnt_dofadr[leader])) if leader >= 0 else None
        if index is None or not model.eq_active0[row]:
            continue
        if index not in moved:
            moved[index] = np.zeros(model.nv)
            moved[index][dofs[index]] = 1.0
        moved[index][model.jnt_dofadr[mimic]] = model.eq_data[row, 1]
    return moved


def _free_inertia(
    model: mujoco.MjModel, data: mujoco.MjData, dofs: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the inertia about each joint with the others free, and their coupling.

    Args:
        model: The model.
        data: State whose positions count.
        dofs: Addresses of the joints in qvel.  # (n,)

    Returns:
        Inertias (n,), and the largest eigenvalue of their inverse, normalized to a unit diagonal.
    """
    mujoco.mj_forward(model, data)
    unit = np.zeros((len(dofs), model.nv))
    unit[np.arange(len(dofs)), dofs] = 1.0
    acceleration = np.zeros_like(unit)
    mujoco.mj_solveM(model, data, acceleration, unit)
    inverse = acceleration[:, dofs]
    inertia = 1.0 / np.diag(inverse)
    scale = np.sqrt(inertia)
    return inertia, float(np.linalg.eigvalsh(inverse * np.outer(scale, scale)).max())
