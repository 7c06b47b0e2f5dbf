"""MuJoCo's state as one vector."""

import mujoco
import numpy as np

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""All state that the next step depends on, except sleeping."""


def state_vector(
    model: mujoco.MjModel, data: mujoco.MjData, components: mujoco.mjtState = STATE
) -> np.ndarray:
    """Return a copy of the `components` of the state, for ``mj_setState``.  # (size,)."""
    state = np.empty(mujoco.mj_stateSize(model, components))
    mujoco.mj_getState(model, data, state, components)
    return state
