"""Former place of the outputs of `inputs`, for the states of users until the next release."""

from mujoco_ros.controllers.interface.inputs import (
    DRAW,
    ESTIMATED_BASE,
    Drawing,
    DrawnLine,
    DrawnPoint,
)

__all__ = ["DRAW", "ESTIMATED_BASE", "Drawing", "DrawnLine", "DrawnPoint"]
