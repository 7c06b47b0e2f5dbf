"""Transfer of state between models: elements that both have keep their state."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.model.scene.correspondence import Correspondence, Pairs
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.state_vector import set_state, state_fields, state_vector

_INDICES = {
    "qpos": "q",
    "qvel": "v",
    "act": "act",
    "history": "history",
    "plastic": "plastic",
    "qacc_warmstart": "v",
    "plugin_state": "plugin_state",
    "ctrl": "ctrl",
    "qfrc_applied": "v",
    "xfrc_applied": "body",
    "eq_active": "equality",
    "mocap_pos": "mocap",
    "mocap_quat": "mocap",
}
"""Kind of index of the fields of the state that belong to elements of the model."""


def transfer_data(old: mujoco.MjData, new: mujoco.MjData, same: Correspondence) -> None:
    """Copy the time, the user data and the state of shared elements, which all wake up."""
    before, after = state_vector(old.model, old), state_vector(new.model, new)
    for field, other in zip(
        state_fields(old.model, old), state_fields(new.model, new), strict=True
    ):
        source, target = field.view(before), other.view(after)
        if not field.bit:
            continue
        if field.name in _INDICES:
            shared_old, shared_new = same.pairs[_INDICES[field.name]]
            target[shared_new] = source[shared_old]
        else:
            count = min(field.size, other.size)
            target.reshape(-1)[:count] = source.reshape(-1)[:count]
    set_state(new.model, new, after)


def transfer_state(old: Plant, new: Plant, same: Correspondence) -> None:
    """Copy state, model edits, gains and references of shared elements to the next plant."""
    old.originals.copy_to(new.model, same)
    new.plugin_attributes.transfer(old.plugin_attributes, same, new.data)
    transfer_data(old.data, new.data, same)
    joints = joint_pairs(old.joints, new.joints, same)
    new.gains.transfer(old.gains, joints)
    new.references.values[:, joints[1]] = old.references.values[:, joints[0]]
    new.saturation.transfer(old.saturation, same.pairs["actuator"], joints)
    new.extensions.restore(old.extensions.save())
    new.drives.force_limits.transfer(old.drives.force_limits, same.pairs["actuator"])
    if new.realism is not None and old.realism is not None:
        new.realism.transfer(old.realism)
    if new.noise is not None and old.noise is not None:
        new.noise.transfer(old.noise)


def joint_pairs(old: Joints, new: Joints, same: Correspondence) -> Pairs:
    """Return the shared robot joints, as indices into the joint arrays."""
    in_old, in_new = same.pairs["joint"]
    both = np.isin(in_old, old.ids) & np.isin(in_new, new.ids)
    return _indices(old.ids, in_old[both]), _indices(new.ids, in_new[both])


def _indices(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    order = np.argsort(ids)
    found: np.ndarray = order[np.searchsorted(ids, wanted, sorter=order)]
    return found
