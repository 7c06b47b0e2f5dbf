"""The tree of the bodies of a model."""

import mujoco
import numpy as np


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
