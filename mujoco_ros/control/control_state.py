"""What moves a robot's references, put aside."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from mujoco_ros.control.events import CommandSource


@dataclass(frozen=True, kw_only=True)
class ControlState:
    """What moved a robot's references at some time, part by part."""

    streams: dict[CommandSource, Any]
    trajectory: Any
    gripper: dict[str, float]
    holder: np.ndarray
    damped: np.ndarray
