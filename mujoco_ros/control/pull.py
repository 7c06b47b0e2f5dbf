"""A pull at a body, as the mouse in the viewer does it."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True, slots=True)
class Pull:
    """The target of a point of a frame, or of the orientation of the frame."""

    turns: bool  # whether the frame is turned; else it is pulled at the point
    point: np.ndarray  # in the axes of the frame, from its origin [m] (3,)
    position: np.ndarray  # target of the point in the world [m] (3,)
    quat_wxyz: np.ndarray  # target orientation of the frame in the world (4,)
