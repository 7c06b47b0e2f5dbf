"""The numbers of a model that change while it runs, as one vector."""

from typing import Any

import mujoco
import numpy as np

from mujoco_ros.sim.state.model_edits import OPTIONS

LOOKS = ("geom_rgba", "geom_size", "site_rgba", "tendon_rgba", "mat_rgba")
DRIVES = ("actuator_gainprm", "actuator_biasprm", "actuator_forcerange", "actuator_forcelimited")


def gather(model: mujoco.MjModel) -> np.ndarray:
    """Return the numbers: looks, gains and limits of actuators, and the engine's options."""
    arrays = [getattr(model, name) for name in (*LOOKS, *DRIVES)]
    options = [getattr(model.opt, name) for name in OPTIONS]
    return np.concatenate([np.ravel(part) for part in (*arrays, *options)], dtype=np.float64)


def scatter(model: mujoco.MjModel, numbers: np.ndarray) -> None:
    """Make a model what `gather` found in another that is the same but for edits."""
    sizes, first = model.geom_size.copy(), 0
    for name in (*LOOKS, *DRIVES):
        array = getattr(model, name)
        array[:] = numbers[first : first + array.size].reshape(array.shape)
        first += array.size
    for name in OPTIONS:
        present = getattr(model.opt, name)
        size = np.size(present)
        setattr(model.opt, name, _as(present, numbers[first : first + size]))
        first += size
    if not np.array_equal(sizes, model.geom_size):
        mujoco.mj_setConst(model, mujoco.MjData(model))  # bounding volumes follow the sizes


def _as(present: Any, numbers: np.ndarray) -> Any:
    """Return numbers as an option of the type that `present` has."""
    if np.ndim(present):
        return numbers.reshape(np.shape(present))
    return float(numbers[0]) if isinstance(present, float) else int(numbers[0])
