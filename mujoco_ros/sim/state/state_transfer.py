"""Transfer of state between models: elements that both have keep their state."""

from typing import Protocol

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.model.scene.correspondence import Correspondence, Pairs
from mujoco_ros.sim.plant import Plant

_STATE = {
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
"""MuJoCo's integration state without time and userdata: array to kind of index."""


def transfer_data(old: mujoco.MjData, new: mujoco.MjData, same: Correspondence) -> None:
    """Copy the time and the integration state of shared elements, without sleeping."""
    for name, kind in _STATE.items():
        _copy(getattr(old, name), getattr(new, name), same.pairs[kind])
    count = min(len(old.userdata), len(new.userdata))
    new.userdata[:count] = old.userdata[:count]
    new.time = old.time


def transfer_state(old: Plant, new: Plant, same: Correspondence) -> None:
    """Copy state, model edits, gains and references of shared elements to the next plant."""
    old.originals.copy_to(new.model, same)
    new.plugin_attributes.transfer(old.plugin_attributes, same, new.data)
    transfer_data(old.data, new.data, same)
    joints = joint_pairs(old, new, same)
    new.gains.transfer(old.gains, joints)
    new.references.values[:, joints[1]] = old.references.values[:, joints[0]]
    new.saturation.transfer(old.saturation, same.pairs["actuator"], joints)
    new.extensions.transfer(old.extensions)
    new.drives.force_limits.restore_state(
        old.drives.force_limits.save_state(), same.pairs["actuator"]
    )
    if new.realism is not None and old.realism is not None:
        new.realism.transfer(old.realism)
    if new.noise is not None and old.noise is not None:
        new.noise.transfer(old.noise)


class _Jointed(Protocol):
    @property
    def model(self) -> mujoco.MjModel: ...

    @property
    def joints(self) -> Joints: ...


def joint_pairs(old: _Jointed, new: _Jointed, same: Correspondence) -> Pairs:
    """Return the shared robot joints, as indices into the joint arrays."""
    before = np.full(old.model.njnt, -1, dtype=np.intp)
    before[old.joints.ids] = np.arange(len(old.joints.ids))
    after = np.full(new.model.njnt, -1, dtype=np.intp)
    after[new.joints.ids] = np.arange(len(new.joints.ids))
    in_old, in_new = same.pairs["joint"]
    first, second = before[in_old], after[in_new]
    both = (first >= 0) & (second >= 0)
    return first[both], second[both]


def _copy(old: np.ndarray, new: np.ndarray, pairs: Pairs) -> None:
    new[pairs[1]] = old[pairs[0]]
