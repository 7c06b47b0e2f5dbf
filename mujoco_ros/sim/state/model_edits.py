"""Edits of a compiled model."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.indexing import ROWS
from mujoco_ros.model.scene.correspondence import Correspondence

OPTIONS = tuple(name for name in dir(mujoco.MjOption()) if not name.startswith("_"))
"""Names of the engine's options."""


class ModelEdits:
    """Differences of a model from its compiled values."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Copy the arrays of `model`, without assets."""
        self._model = model
        self._arrays = {
            name: (getattr(model, name), getattr(model, name).copy(), kind)
            for name, kind in ROWS.items()
            # Keyframes have no effect on the simulation, and ids are others in another model.
            if kind != "key" and not _are_ids(name, getattr(model, name))
        }

    def copy_to(self, other: mujoco.MjModel, same: Correspondence) -> None:
        """Apply the edits to the same elements of another model."""
        for name, (current, compiled, kind) in self._arrays.items():
            if np.array_equal(current, compiled):
                continue
            old, new = same.pairs[kind]
            different = current[old] != compiled[old]
            edited = different.any(axis=tuple(range(1, different.ndim)))
            getattr(other, name)[new[edited]] = current[old[edited]]
        for name in OPTIONS:
            setattr(other.opt, name, getattr(self._model.opt, name))


def _are_ids(name: str, array: np.ndarray) -> bool:
    return name.endswith("id") and array.dtype.kind == "i"
