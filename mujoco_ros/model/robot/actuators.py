"""Actuators, what they act on, and the effort limits of joints."""

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.scope import ON_JOINT, Scope


def joint_actuators(model: mujoco.MjModel, joint: int) -> list[int]:
    """Return the actuators that act on a joint directly."""
    return [actuator for actuator in range(model.nactuator) if joint_of(model, actuator) == joint]


def joint_effort(model: mujoco.MjModel, joint: int) -> float:
    """Return the total effort limit of a joint's actuators [Nm or N]; inf if unlimited."""
    actuators = joint_actuators(model, joint)
    total = sum(_effort(model, actuator) for actuator in actuators) if actuators else math.inf
    if model.jnt_actfrclimited[joint]:
        total = min(total, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    return total


def _effort(model: mujoco.MjModel, actuator: int) -> float:
    slot = int(model.actuator_ctrladr[actuator])
    force = math.inf
    if model.actuator_forcelimited[actuator]:
        force = float(np.abs(model.actuator_forcerange[actuator]).max())
    is_motor = (
        model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_NONE
    )
    if is_motor and model.actuator_ctrllimited[slot]:
        control = float(np.abs(model.actuator_ctrlrange[slot]).max())
        force = min(force, abs(float(model.actuator_gainprm[actuator, 0])) * control)
    return force * abs(float(model.actuator_gear[model.actuator_outadr[actuator], 0]))


_DYN = mujoco.mjtDyn
FILTERS = (int(_DYN.mjDYN_FILTER), int(_DYN.mjDYN_FILTEREXACT))
"""Activation dynamics that follow the control."""


def takes_velocities(model: mujoco.MjModel, joint: int) -> bool:
    """Whether the actuators of a joint take velocities alone, as wheels have them."""
    actuators = joint_actuators(model, joint)
    return bool(actuators) and all(
        is_velocity_servo(model, actuator)
        or model.actuator_dyntype[actuator] == _DYN.mjDYN_INTEGRATOR
        for actuator in actuators
    )


def is_velocity_servo(model: mujoco.MjModel, actuator: int) -> bool:
    """Whether the force of an actuator is proportional to the error of a velocity."""
    bias = model.actuator_biasprm[actuator]
    return is_affine(model, actuator) and not bias[1] and bool(bias[2])


def is_affine(model: mujoco.MjModel, actuator: int) -> bool:
    """Whether the force is ``gain·u + bias``, u being the control or the filtered one."""
    return bool(
        model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_FIXED
        and model.actuator_biastype[actuator] == mujoco.mjtBias.mjBIAS_AFFINE
        and model.actuator_dyntype[actuator] in (int(_DYN.mjDYN_NONE), *FILTERS)
        and model.actuator_gainprm[actuator, 0]
    )


_TRN = mujoco.mjtTrn
_KINDS = {
    int(_TRN.mjTRN_TENDON): "tendon",
    int(_TRN.mjTRN_SITE): "site",
    int(_TRN.mjTRN_SLIDERCRANK): "slider-crank",
    int(_TRN.mjTRN_BODY): "adhesion",
}


def actuator_kind(model: mujoco.MjModel, actuator: int) -> str:
    """Return the kind of an actuator: its control law, or else the type of its transmission."""
    if model.actuator_plugin[actuator] >= 0:
        return "plugin"
    muscles = (
        model.actuator_dyntype[actuator] == mujoco.mjtDyn.mjDYN_MUSCLE
        or model.actuator_gaintype[actuator] == mujoco.mjtGain.mjGAIN_MUSCLE
    )
    if muscles:
        return "muscle"
    return _KINDS.get(int(model.actuator_trntype[actuator]), "general")


def control_names(model: mujoco.MjModel) -> list[str]:
    """Return the names of the controls: of the actuator, and of the input if it has several."""
    names = [""] * model.nu
    for actuator in range(model.nactuator):
        first, count = int(model.actuator_ctrladr[actuator]), int(model.actuator_ctrlnum[actuator])
        for index in range(count):
            names[first + index] = model.actuator(actuator).name
            if count > 1:
                names[first + index] += f".{mujoco.mj_actuatorInputName(model, actuator, index)}"
    return names


def joint_of(model: mujoco.MjModel, actuator: int) -> int | None:
    """Return the joint that an actuator acts on; None if it acts on something else."""
    on_joint = model.actuator_trntype[actuator] in ON_JOINT
    return int(model.actuator_trnid[actuator, 0]) if on_joint else None


def tendon_of(model: mujoco.MjModel, actuator: int) -> int | None:
    """Return the tendon that an actuator acts on; None if it acts on something else."""
    on_tendon = model.actuator_trntype[actuator] == _TRN.mjTRN_TENDON
    return int(model.actuator_trnid[actuator, 0]) if on_tendon else None


def tendon_actuators(model: mujoco.MjModel, tendon: int) -> list[int]:
    """Return the actuators that act on a tendon."""
    return [actuator for actuator in range(model.nactuator) if tendon_of(model, actuator) == tendon]


def tendon_dofs(model: mujoco.MjModel, tendon: int) -> np.ndarray:
    """Return the degrees of freedom that change the length of a tendon.  # (k,)"""
    first, count = int(model.ten_J_rowadr[tendon]), int(model.ten_J_rownnz[tendon])
    return np.array(model.ten_J_colind[first : first + count], dtype=np.intp)


def tendon_range(model: mujoco.MjModel, tendon: int) -> tuple[float, float]:
    """Return the smallest and largest length of a tendon [m, or rad over hinge joints].

    They follow from its limits, and for a fixed tendon from the limits of its joints.
    """
    low, high = -np.inf, np.inf
    if model.tendon_limited[tendon]:
        low, high = (float(end) for end in model.tendon_range[tendon])
    joints = fixed_joints(model, tendon)
    if joints:
        ends = np.zeros(2)
        for joint, coefficient in joints:
            limited = bool(model.jnt_limited[joint])
            span = model.jnt_range[joint] if limited else np.array([-np.inf, np.inf])
            if coefficient:
                ends += np.sort(coefficient * span)
        low, high = max(low, float(ends[0])), min(high, float(ends[1]))
    return low, high


def tendon_is_angle(model: mujoco.MjModel, tendon: int) -> bool:
    """Return whether the length of a tendon is an angle [rad], not a distance [m]."""
    joints = fixed_joints(model, tendon)
    hinge = mujoco.mjtJoint.mjJNT_HINGE
    return bool(joints) and all(model.jnt_type[joint] == hinge for joint, _ in joints)


def find_gripper(
    scope: Scope, joints: Sequence[str], ids: np.ndarray, name: str, where: str
) -> tuple[int | None, int | None]:
    """Return the index of one of `joints`, or else of a tendon in the model; the other is None.

    The name is of a joint, of a tendon, or of an actuator on one of them; a joint without actuators
    comes after an actuator and a tendon of the same name. `ids` are the model's joints # (n,)
    """
    model = scope.model
    actuators = {
        scope.short(model.actuator(actuator).name): actuator
        for actuator in range(model.nactuator)
        if scope.includes(model.actuator(actuator).name)
    }
    tendons = {
        scope.short(model.tendon(index).name): index
        for index in range(model.ntendon)
        if scope.includes(model.tendon(index).name)
    }
    joint = joints.index(name) if name in joints else None
    if joint is not None and (
        joint_actuators(model, int(ids[joint])) or name not in {*actuators, *tendons}
    ):
        return joint, None
    if name in actuators:
        of_joint, of_tendon = (at(model, actuators[name]) for at in (joint_of, tendon_of))
        if of_tendon is not None:
            return None, of_tendon
        if of_joint is None or of_joint not in ids:
            kind = actuator_kind(model, actuators[name])
            raise UserInputError(
                f"{where}: actuator '{name}' ({kind}) moves neither a tendon nor a joint with one "
                "axis; name a joint, a tendon, or an actuator on one of them"
            )
        return int(np.flatnonzero(ids == of_joint)[0]), None
    if name in tendons:
        return None, tendons[name]
    known = dict.fromkeys(each for each in (*joints, *actuators, *tendons) if each)
    raise unknown("joint, actuator or tendon", name, known, where=where)


def fixed_joints(model: mujoco.MjModel, tendon: int) -> list[tuple[int, float]]:
    """Return joints and coefficients of a fixed tendon; a spatial tendon has none."""
    first, count = int(model.tendon_adr[tendon]), int(model.tendon_num[tendon])
    return [
        (int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap]))
        for wrap in range(first, first + count)
        if model.wrap_type[wrap] == mujoco.mjtWrap.mjWRAP_JOINT
    ]
