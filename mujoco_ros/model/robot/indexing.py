"""The elements that index the arrays of MjModel."""

import mujoco
import numpy as np

JOINT_WIDTHS = np.zeros((4, 2), dtype=np.intp)
"""Width in qpos and in qvel by joint type.  # (4, 2)"""
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_FREE] = 7, 6
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_BALL] = 4, 3
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_SLIDE] = 1, 1
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_HINGE] = 1, 1

_FAMILIES = {
    "body_": "body",
    "jnt_": "joint",
    "dof_": "v",
    "geom_": "geom",
    "site_": "site",
    "cam_": "camera",
    "light_": "light",
    "mat_": "material",
    "pair_": "pair",
    "eq_": "equality",
    "tendon_": "tendon",
    "actuator_": "actuator",
    "sensor_": "sensor",
    "qpos": "q",
    "key_": "key",
}
"""Kind of index by beginning of an array's name."""
_EXCEPTIONS = {
    "actuator_ctrllimited": "ctrl",
    "actuator_ctrlrange": "ctrl",
    "actuator_gear": "output",
    "actuator_acc0": "output",
    "actuator_length0": "output",
    "actuator_lengthrange": "output",
}


def _kind(name: str) -> str | None:
    if name in _EXCEPTIONS:
        return _EXCEPTIONS[name]
    return next((kind for start, kind in _FAMILIES.items() if name.startswith(start)), None)


ROWS = {name: kind for name in dir(mujoco.MjModel) if (kind := _kind(name)) is not None}
"""Arrays with a row for each element, and the kind of element, as in `Correspondence.pairs`."""
