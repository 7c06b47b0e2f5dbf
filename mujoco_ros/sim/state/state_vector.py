"""MuJoCo's state as one vector."""

import mujoco
import numpy as np

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""Everything that the next step depends on, but which bodies sleep."""


def state_vector(
    model: mujoco.MjModel, data: mujoco.MjData, what: mujoco.mjtState = STATE
) -> np.ndarray:
    """Return a copy of `what` there is to `data`, for ``mj_setState``.  # (size,)."""
    state = np.empty(mujoco.mj_stateSize(model, what))
    mujoco.mj_getState(model, data, state, what)
    return state
