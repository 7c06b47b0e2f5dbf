"""A model as it was compiled, and what was edited in it since."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.indexing import ROWS
from mujoco_ros.model.scene.correspondence import Correspondence

OPTIONS = tuple(name for name in dir(mujoco.MjOption()) if not name.startswith("_"))
"""Names of the engine's options."""


class ModelEdits:
    """The numbers of a model as it was compiled, to tell what was edited while it ran."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Keep a copy of the numbers of `model`, but for assets."""
        self._model = model
        self._arrays = {
            name: (getattr(model, name), getattr(model, name).copy(), kind)
            for name, kind in ROWS.items()
            if kind != "key"  # nothing runs by them
        }

    def carry(self, other: mujoco.MjModel, same: Correspondence) -> None:
        """Make the same edits to another model, where it has the same elements."""
        for name, (now, before, kind) in self._arrays.items():
            if np.array_equal(now, before):
                continue
            old, new = same.pairs[kind]
            different = now[old] != before[old]
            edited = different.any(axis=tuple(range(1, different.ndim)))
            getattr(other, name)[new[edited]] = now[old[edited]]
        for name in OPTIONS:
            setattr(other.opt, name, getattr(self._model.opt, name))
