"""Keyframes of a model from positions of its joints."""

from collections.abc import Mapping

import mujoco
import numpy as np

SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_ON_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))


def add_keyframe(
    spec: mujoco.MjSpec,
    name: str,
    positions: Mapping[str, float],
    model: mujoco.MjModel | None = None,
) -> None:
    """Add a keyframe with positions of joints [rad or m]; mimics follow, others are at zero.

    Joints that the model does not have are ignored. `model` is the compiled spec, if there is one.
    """
    model = model or spec.compile()
    qpos = model.qpos0.copy()
    _write(model, positions, qpos)
    spec.add_key(name=name, qpos=qpos)


def move_keyframe(spec: mujoco.MjSpec, index: int, positions: Mapping[str, float]) -> None:
    """Change positions of joints [rad or m] in a keyframe; mimics follow.

    The controls of actuators of these joints become zero, so that they hold the new position.
    """
    model, key = spec.compile(), spec.keys[index]
    qpos = model.key_qpos[index].copy()
    ctrl = model.key_ctrl[index].copy()
    _write(model, positions, qpos)
    for actuator in range(model.nactuator):
        joint = int(model.actuator_trnid[actuator, 0])
        on_joint = model.actuator_trntype[actuator] in _ON_JOINT
        if on_joint and model.joint(joint).name in positions:
            first = int(model.actuator_ctrladr[actuator])
            ctrl[first : first + int(model.actuator_ctrlnum[actuator])] = 0.0
    key.qpos, key.ctrl = qpos, ctrl


def _write(model: mujoco.MjModel, positions: Mapping[str, float], qpos: np.ndarray) -> None:
    for joint in range(model.njnt):
        if model.jnt_type[joint] in SCALAR and model.joint(joint).name in positions:
            qpos[model.jnt_qposadr[joint]] = positions[model.joint(joint).name]
    for row in np.flatnonzero(model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)):
        joint, leader = int(model.eq_obj1id[row]), int(model.eq_obj2id[row])
        if leader >= 0:
            source, target = model.jnt_qposadr[leader], model.jnt_qposadr[joint]
            moved = qpos[source] - model.qpos0[source]
            polynomial = model.eq_data[row, 4::-1]
            qpos[target] = model.qpos0[target] + np.polyval(polynomial, moved)
