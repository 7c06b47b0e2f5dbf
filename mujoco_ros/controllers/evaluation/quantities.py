"""What the numbers of an episode are called by people, and in which units they are read."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Quantity(NamedTuple):
    """How to tell a number.

    Attributes:
        name: What it is, in words.
        unit: In which it is told; nothing for a plain number.
        factor: Of that unit in an SI unit.
    """

    name: str
    unit: str = ""
    factor: float = 1.0

    @property
    def title(self) -> str:
        """Return the name with the unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def told(self, value: float) -> str:
        """Return a number of SI units as a number of this unit."""
        return f"{self.factor * value:.4g}"


def quantity(name: str) -> Quantity:
    """Return what a condition or a measure is; its own name if nobody has said."""
    return _QUANTITIES.get(name, Quantity(name))


_MILLI, _DEGREES = 1e3, 180.0 / np.pi
_QUANTITIES: Mapping[str, Quantity] = {
    "start_x": Quantity("start, x", "mm", _MILLI),
    "start_y": Quantity("start, y", "mm", _MILLI),
    "start_yaw": Quantity("start, yaw", "°", _DEGREES),
    "goal_x": Quantity("goal, x", "mm", _MILLI),
    "goal_y": Quantity("goal, y", "mm", _MILLI),
    "goal_yaw": Quantity("goal, yaw", "°", _DEGREES),
    "push": Quantity("push, impulse per mass", "m/s"),
    "direction": Quantity("push, direction", "°", _DEGREES),
    "at": Quantity("push, time", "s"),
    "base_mass": Quantity("mass of the base, factor"),
    "mass": Quantity("mass of the box", "g", _MILLI),
    "friction": Quantity("friction, factor"),
    "error_x": Quantity("place error, x", "mm", _MILLI),
    "error_y": Quantity("place error, y", "mm", _MILLI),
    "error_xy": Quantity("place error in the plane", "mm", _MILLI),
    "error_z": Quantity("place error, z", "mm", _MILLI),
    "error_yaw": Quantity("error of orientation", "mrad", _MILLI),
    "tracking": Quantity("largest tracking error", "mrad", _MILLI),
    "ik_error": Quantity("inverse kinematics, error of position", "mm", _MILLI),
    "ik_turn": Quantity("inverse kinematics, error of orientation", "mrad", _MILLI),
    "corners": Quantity("most points of a path"),
    "payload_error": Quantity("error of the weighed mass", "g", _MILLI),
    "saturated_steps": Quantity("steps at a torque limit"),
    "cycle": Quantity("cycle", "s"),
    "height": Quantity("height of the base, part of its first"),
    "moved": Quantity("base moved", "mm", _MILLI),
}
