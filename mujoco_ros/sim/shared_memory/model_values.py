"""Fields of a model that can change at run time, as one vector."""

from typing import Any

import mujoco
import numpy as np

from mujoco_ros.sim.state.model_edits import OPTIONS

APPEARANCE_FIELDS = ("geom_rgba", "geom_size", "site_rgba", "tendon_rgba", "mat_rgba")
_ACTUATOR_FIELDS = (
    "actuator_gainprm",
    "actuator_biasprm",
    "actuator_forcerange",
    "actuator_forcelimited",
)


def gather(model: mujoco.MjModel) -> np.ndarray:
    """Return the appearance, the gains and limits of the actuators, and the engine's options."""
    arrays = [getattr(model, name) for name in (*APPEARANCE_FIELDS, *_ACTUATOR_FIELDS)]
    options = [getattr(model.opt, name) for name in OPTIONS]
    return np.concatenate([np.ravel(part) for part in (*arrays, *options)], dtype=np.float64)


def scatter(model: mujoco.MjModel, numbers: np.ndarray) -> None:
    """Write the vector from `gather` to a model with the same structure."""
    sizes, first = model.geom_size.copy(), 0
    for name in (*APPEARANCE_FIELDS, *_ACTUATOR_FIELDS):
        array = getattr(model, name)
        array[:] = numbers[first : first + array.size].reshape(array.shape)
        first += array.size
    for name in OPTIONS:
        present = getattr(model.opt, name)
        size = np.size(present)
        setattr(model.opt, name, _as(present, numbers[first : first + size]))
        first += size
    if not np.array_equal(sizes, model.geom_size):
        mujoco.mj_setConst(model, mujoco.MjData(model))  # bounding volumes depend on the sizes


def _as(present: Any, numbers: np.ndarray) -> Any:
    """Return numbers as an option of the type of `present`."""
    if np.ndim(present):
        return numbers.reshape(np.shape(present))
    return float(numbers[0]) if isinstance(present, float) else int(numbers[0])
