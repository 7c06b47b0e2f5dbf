"""Values that a controller puts into its store for the host to publish."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mujoco_ros.controllers.interface.observation import BaseReading
from mujoco_ros.controllers.interface.store import Key

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity in 0..1."""


class DrawnLine(NamedTuple):
    """A line to display.

    Attributes:
        name: Namespace of its marker.
        points: In the frame of the base [m].  # (n, 3)
        colour: Its colour.
        width: [m]
    """

    name: str
    points: np.ndarray
    colour: Colour
    width: float = 0.006


class DrawnPoint(NamedTuple):
    """A point to display.

    Attributes:
        name: Namespace of its marker.
        position: In the frame of the base [m].  # (3,)
        colour: Its colour.
        diameter: [m]
    """

    name: str
    position: np.ndarray
    colour: Colour
    diameter: float = 0.03


class Drawing(NamedTuple):
    """What a controller displays at a tick.

    Attributes:
        lines: The lines.
        points: The points.
    """

    lines: tuple[DrawnLine, ...]
    points: tuple[DrawnPoint, ...]


ESTIMATED_BASE: Key[BaseReading] = Key("base/estimated", BaseReading)
"""Estimate of the floating base at the last tick."""
DRAW: Key[Callable[[], Drawing]] = Key("drawing/draw")
"""Function that returns the `Drawing` of the last tick; called only while it is displayed."""
