"""The tree of the bodies of a model, with their joints."""

import mujoco
import numpy as np

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


def joints_of(model: mujoco.MjModel, body: int) -> range:
    """Return the joints of a body."""
    first = int(model.body_jntadr[body])
    return range(first, first + int(model.body_jntnum[body]))


def free_joint(model: mujoco.MjModel, body: int) -> int | None:
    """Return the free joint of a body; None if it has none."""
    return next((it for it in joints_of(model, body) if model.jnt_type[it] == _FREE), None)


def carriers(model: mujoco.MjModel, body: int) -> list[int]:
    """Return a body and the bodies that carry it, up to the root of its tree, without the world."""
    found = []
    while body:
        found.append(body)
        body = int(model.body_parentid[body])
    return found


def carried(model: mujoco.MjModel, roots: int | np.ndarray | list[int]) -> np.ndarray:
    """Return which bodies are one of some roots, or carried by one.  # (nbody,) bool"""
    inside = np.zeros(model.nbody, dtype=bool)
    inside[roots] = True
    for body in range(1, model.nbody):  # parents come first
        inside[body] |= inside[model.body_parentid[body]]
    return inside
