"""What a plant takes over from the one before it: all that is in both, and not what is new."""

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
"""All of MuJoCo's integration state but time and userdata: array to kind of index."""


def carry_state(old: mujoco.MjData, new: mujoco.MjData, same: Correspondence) -> None:
    """Copy the integration state of everything that two models share, and the time.

    Which bodies sleep, if the model enables that, is no part of it.
    """
    for name, kind in _STATE.items():
        _copy(getattr(old, name), getattr(new, name), same.pairs[kind])
    count = min(len(old.userdata), len(new.userdata))
    new.userdata[:count] = old.userdata[:count]
    new.time = old.time


def transfer_state(old: Plant, new: Plant, same: Correspondence) -> None:
    """Let `new` go on where `old` is, with everything that both have.

    Args:
        old: The plant that was simulated.
        new: The plant to be simulated.
        same: What of their models is the same.
    """
    old.originals.carry(new.model, same)
    carry_state(old.data, new.data, same)
    joints = joint_pairs(old, new, same)
    new.gains.transfer(old.gains, joints)
    new.references.values[:, joints[1]] = old.references.values[:, joints[0]]
    new.saturation.transfer(old.saturation, same.pairs["actuator"], joints)
    if new.noise is not None and old.noise is not None:
        new.noise.carry(old.noise)


class _Jointed(Protocol):
    @property
    def model(self) -> mujoco.MjModel: ...

    @property
    def joints(self) -> Joints: ...


def joint_pairs(old: _Jointed, new: _Jointed, same: Correspondence) -> Pairs:
    """Return the joints of robots that both have, as indices into the joint arrays."""
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
