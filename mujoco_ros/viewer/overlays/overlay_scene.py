"""What overlays are drawn of."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.layout import ModelLayout


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """A state, forwarded, and what is told to it.

    Attributes:
        model: The model.
        data: Its state after ``mj_forward``.
        layout: Its robots.
        references: Positions that the joints of all robots are told.  # (n,)
        sensordata: What was measured.  # (nsensordata,)
        applied: Wrenches from outside, at centres of mass, in axes of the world.  # (nbody, 6)
    """

    model: mujoco.MjModel
    data: mujoco.MjData
    layout: ModelLayout
    references: np.ndarray
    sensordata: np.ndarray
    applied: np.ndarray


@dataclass(kw_only=True, slots=True)
class Scale:
    """How long forces are drawn.

    Attributes:
        force: [m/N].
        torque: [m/Nm].
        radius: Of arrows [m].
        sensor_sign: -1 if wrenches say what the child side puts on its parent, else 1.
    """

    force: float = 0.004
    torque: float = 0.02
    radius: float = 0.008
    sensor_sign: float = -1.0
