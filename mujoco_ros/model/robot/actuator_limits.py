"""Effort limits of joints, from their actuators."""

import math

import mujoco
import numpy as np

# Integers, because a MuJoCo enum on the left side of == never equals a number.
_ON_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))


def joint_actuators(model: mujoco.MjModel, joint: int) -> list[int]:
    """Return the actuators that act on a joint directly."""
    return [
        actuator
        for actuator in range(model.nactuator)
        if model.actuator_trntype[actuator] in _ON_JOINT
        and model.actuator_trnid[actuator, 0] == joint
    ]


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
