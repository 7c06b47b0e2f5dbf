"""Scenes of overlays."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.viewer.overlays.shapes import OverlayScene


def initial_scene(name: str) -> OverlayScene:
    """Return a shipped scene in its initial state, without references, sensors and wrenches."""
    assembly = assemble(load_scene(name))
    data = mujoco.MjData(assembly.model)
    mujoco.mj_forward(assembly.model, data)
    nothing = np.zeros(0)
    return OverlayScene(
        model=assembly.model,
        data=data,
        geom_group=assembly.model.geom_group,
        layout=lay_out(assembly),
        references=nothing,
        sensordata=nothing,
        applied=nothing,
    )
