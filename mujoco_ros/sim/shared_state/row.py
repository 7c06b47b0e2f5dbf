"""What a row of the shared state has: the time, and the numbers of these arrays in this order."""

import mujoco
import numpy as np

from mujoco_ros.sim.sample import Sample

_SAMPLED = ("qpos", "qvel", "act", "sensordata")
_OTHERS = (
    "history",
    "plastic",
    "qacc_warmstart",
    "plugin_state",
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "eq_active",
    "mocap_pos",
    "mocap_quat",
    "userdata",
    "qfrc_actuator",
)
"""The rest of MuJoCo's integration state, and what the actuators did."""


def arrays(
    data: mujoco.MjData, references: np.ndarray, sample: Sample | None = None
) -> list[np.ndarray]:
    """Return the arrays behind the time, as flat views; those without numbers are left out.

    Args:
        data: The state.
        references: What the joints are told.  # (3, n)
        sample: Has the state at the beginning of the step that led to `data`, to be taken instead.
    """
    sampled = [getattr(sample or data, name) for name in _SAMPLED]
    others = [getattr(data, name) for name in _OTHERS]
    return [array.reshape(-1) for array in (*sampled, references, *others) if array.size]
