"""Inputs of the overlays."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.shared_memory.reader import SharedState


@dataclass(frozen=True, kw_only=True, slots=True)
class OverlayScene:
    """A state after ``mj_forward`` and its inputs.

    Attributes:
        model: The model.
        data: Its state.
        geom_group: Groups of its geoms in the simulation, where all are shown.  # (ngeom,)
        layout: Its robots.
        references: Position references of the joints of all robots.  # (n,)
        sensordata: Sensor readings.  # (nsensordata,)
        applied: External wrenches at the centres of mass, in world axes.  # (nbody, 6)
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    geom_group: np.ndarray
    layout: ModelLayout
    references: np.ndarray
    sensordata: np.ndarray
    applied: np.ndarray


def viewed_scene(
    model: mujoco.MjModel, data: mujoco.MjData, state: SharedState
) -> OverlayScene | None:
    """Return the scene of a viewer's model and data; None until that is the model of the state."""
    if (model.nq, model.nbody) != (state.model.nq, state.model.nbody):
        return None
    return OverlayScene(
        model=model,
        data=data,
        geom_group=state.model.geom_group,
        layout=state.layout,
        references=state.references.q,
        sensordata=state.data.sensordata,
        applied=state.data.xfrc_applied,
    )


@dataclass(kw_only=True, slots=True)
class Scale:
    """Lengths of arrows.

    Attributes:
        force: [m/N].
        torque: [m/Nm].
        radius: Of arrows [m].
        sensor_sign: -1 if wrenches are published child on parent, else 1.
    """

    force: float = 0.004
    torque: float = 0.02
    radius: float = 0.008
    sensor_sign: float = -1.0
