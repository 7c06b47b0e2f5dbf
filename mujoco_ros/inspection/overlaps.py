"""Pairs of bodies that overlap at the start, also those that do not collide."""

import copy
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.scene.robot_options.self_collision import overlap_depths

_NO_PAIR = -1
"""Signature of no pair of bodies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Overlap:
    """Two bodies that overlap by `depth` [m]; excluded ones do not collide with each other."""

    first: str
    second: str
    depth: float
    excluded: bool


def overlaps(model: mujoco.MjModel, qpos: np.ndarray) -> tuple[Overlap, ...]:
    """Return the pairs of bodies that overlap in a configuration (nq,), the deepest first.

    Raises:
        mujoco.FatalError: The contacts need more memory than the model has.
    """
    open_model = copy.copy(model)
    open_model.exclude_signature[:] = _NO_PAIR
    found = _depths(open_model, qpos)
    colliding = _depths(model, qpos) if model.nexclude else found
    return tuple(
        Overlap(first=first, second=second, depth=depth, excluded=(first, second) not in colliding)
        for (first, second), depth in sorted(found.items(), key=lambda item: -item[1])
    )


def _depths(model: mujoco.MjModel, qpos: np.ndarray) -> dict[tuple[str, str], float]:
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    return overlap_depths(model, data)
