"""Delayed controls of actuators: MuJoCo's buffers, by its attributes ``delay`` and ``nsample``."""

import mujoco
import numpy as np


def fill_delay(model: mujoco.MjModel, data: mujoco.MjData, actuator: int, ctrl: np.ndarray) -> None:
    """Replace the delayed controls of an actuator, if it has any.

    Args:
        model: The model.
        data: The state to change.
        actuator: The actuator.
        ctrl: All controls, of which those of the actuator replace the delayed ones.  # (nu,)
    """
    if model.actuator_historyadr[actuator] < 0:
        return
    first = int(model.actuator_ctrladr[actuator])
    own = ctrl[first : first + int(model.actuator_ctrlnum[actuator])]
    samples = int(model.actuator_history[actuator, 0])
    values = np.ascontiguousarray(np.tile(own, (samples, 1)))
    mujoco.mj_initCtrlHistory(model, data, actuator, None, values)
