"""Controls, activations and delays of actuators after the state of their joints was set."""

import mujoco
import numpy as np

from mujoco_ros.sim.drives import holding_activation, holding_control
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.control_history import fill_delay

_MOVED = 1e-9
"""Smallest change of the length of an actuator that counts [m or rad]."""


def hold_actuators(plant: Plant, lengths: np.ndarray) -> None:
    """Make the actuators whose length was changed hold their new length, as a reset does.

    Servos on tendons and sites get the control, and filters and integrators the activation, that
    hold it; integral terms are cleared. Muscles and plugins keep their state.

    Args:
        plant: The plant; its state is evaluated, its references hold the new state.
        lengths: Lengths of the actuators in the state before.  # (noutput,)
    """
    model, data = plant.model, plant.data
    changed = np.abs(data.actuator_length - lengths) > _MOVED
    moved = [it for it in range(model.nactuator) if changed[_outputs(model, it)].any()]
    if not moved:
        return
    driven = set(plant.drives.slots.tolist())
    plant.drives.write(plant.references, data.ctrl)
    for it in moved:
        if _keeps_state(model, it):
            continue
        slots, first = _slots(model, it), int(model.actuator_actadr[it])
        control = holding_control(model, data, it)
        if control is not None and slots.start not in driven:
            data.ctrl[slots.start] = control
        if first >= 0:
            data.act[first : first + int(model.actuator_actnum[it])] = 0.0
            activation = holding_activation(model, data, data.ctrl, it)
            data.act[first] = 0.0 if activation is None else activation
        fill_delay(model, data, it, data.ctrl)


def _keeps_state(model: mujoco.MjModel, actuator: int) -> bool:
    kind = model.actuator_dyntype[actuator]
    return bool(kind == mujoco.mjtDyn.mjDYN_MUSCLE or model.actuator_plugin[actuator] >= 0)


def _outputs(model: mujoco.MjModel, actuator: int) -> slice:
    first = int(model.actuator_outadr[actuator])
    return slice(first, first + int(model.actuator_outnum[actuator]))


def _slots(model: mujoco.MjModel, actuator: int) -> slice:
    first = int(model.actuator_ctrladr[actuator])
    return slice(first, first + int(model.actuator_ctrlnum[actuator]))
