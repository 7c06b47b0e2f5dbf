"""Titles and units of the conditions and measures of an episode."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Quantity(NamedTuple):
    """Title and unit of a number.

    Attributes:
        name: Title.
        unit: Display unit; empty for a plain number.
        factor: Display units per SI unit.
    """

    name: str
    unit: str = ""
    factor: float = 1.0

    @property
    def title(self) -> str:
        """Title with the unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name

    def text(self, value: float) -> str:
        """Return a value in SI units as text in the display unit."""
        return f"{self.factor * value:.4g}"


def quantity(name: str) -> Quantity:
    """Return the quantity of a condition or measure; default is its name without a unit."""
    return _QUANTITIES.get(name, Quantity(name))


_MILLI, _DEGREES = 1e3, 180.0 / np.pi
_QUANTITIES: Mapping[str, Quantity] = {
    "start_x": Quantity("start, x", "mm", _MILLI),
    "start_y": Quantity("start, y", "mm", _MILLI),
    "start_yaw": Quantity("start, yaw", "°", _DEGREES),
    "goal_x": Quantity("goal, x", "mm", _MILLI),
    "goal_y": Quantity("goal, y", "mm", _MILLI),
    "goal_yaw": Quantity("goal, yaw", "°", _DEGREES),
    "speed": Quantity("commanded speed", "m/s"),
    "velocity_error": Quantity("error of the mean velocity", "m/s"),
    "yaw_rate": Quantity("commanded turn", "rad/s"),
    "yaw_rate_error": Quantity("error of the mean turn", "rad/s"),
    "push": Quantity("push, impulse per mass", "m/s"),
    "direction": Quantity("push, direction", "°", _DEGREES),
    "at": Quantity("push, time", "s"),
    "base_mass": Quantity("mass of the base, factor"),
    "mass": Quantity("mass of the box", "g", _MILLI),
    "friction": Quantity("friction, factor"),
    "size": Quantity("edge of the box", "mm", _MILLI),
    "delay": Quantity("delay of poses", "ms", _MILLI),
    **{f"offset_{i}": Quantity(f"encoder offset, axis {i}", "mrad", _MILLI) for i in range(1, 7)},
    "obstacle": Quantity("height of the obstacle", "mm", _MILLI),
    "obstacle_x": Quantity("obstacle, x", "mm", _MILLI),
    "obstacle_y": Quantity("obstacle, y", "mm", _MILLI),
    "motion": Quantity("motion of the box", "mm", _MILLI),
    "motion_direction": Quantity("motion, direction", "°", _DEGREES),
    "motion_at": Quantity("motion, start", "s"),
    "obstacle_moved": Quantity("displacement of the obstacle", "mm", _MILLI),
    "error_x": Quantity("place error, x", "mm", _MILLI),
    "error_y": Quantity("place error, y", "mm", _MILLI),
    "error_xy": Quantity("place error in the plane", "mm", _MILLI),
    "error_z": Quantity("place error, z", "mm", _MILLI),
    "error_yaw": Quantity("error of orientation", "mrad", _MILLI),
    "tracking": Quantity("largest tracking error", "mrad", _MILLI),
    "ik_error": Quantity("inverse kinematics, error of position", "mm", _MILLI),
    "ik_turn": Quantity("inverse kinematics, error of orientation", "mrad", _MILLI),
    "corners": Quantity("most waypoints of a path"),
    "payload_error": Quantity("error of the measured mass", "g", _MILLI),
    "saturated_steps": Quantity("steps at a torque limit"),
    "cycle": Quantity("cycle", "s"),
    "turned": Quantity("turn", "°", _DEGREES),
    "commanded_turn": Quantity("commanded turn", "°", _DEGREES),
    "height": Quantity("height of the base, part of the initial height"),
    "moved": Quantity("displacement of the base", "mm", _MILLI),
}
