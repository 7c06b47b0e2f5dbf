"""States of which overlays are drawn."""

from dataclasses import dataclass, field

import mujoco
import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene


@dataclass
class OverlayState:
    """Has the attributes of `SharedState` that overlays read."""

    model: mujoco.MjModel
    data: mujoco.MjData
    layout: ModelLayout
    references: References = field(default_factory=lambda: References(np.zeros((3, 0))))


def state_of(assembly: Assembly) -> OverlayState:
    """Return the initial state of a scene, without references."""
    data = mujoco.MjData(assembly.model)
    mujoco.mj_forward(assembly.model, data)
    return OverlayState(assembly.model, data, lay_out(assembly))


def initial_scene(name: str) -> OverlayState:
    """Return a shipped scene in its initial state, without references."""
    return state_of(assemble(load_scene(name)))
