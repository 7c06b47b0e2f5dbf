"""Shapes and frames of messages, without ROS."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from mujoco_ros.model.pose import Pose


class ShapeKind(StrEnum):
    """What is drawn for a message."""

    SPHERE = "sphere"
    BOX = "box"
    CYLINDER = "cylinder"
    ARROW = "arrow"
    LINE = "line"
    TEXT = "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """A shape that a message contains; see `ShapeKind`.

    Attributes:
        kind: What it is.
        frame: TF frame of everything below.
        position: Middle, or begin of an arrow or line [m].  # (3,)
        axes: Rotation matrix; columns are the axes of a box or cylinder.  # (3, 3)
        size: Lengths of a box, or diameters and height [m].  # (3,)
        end: End of an arrow or line [m].  # (3,)
        width: Diameter of an arrow or line [m].
        colour: Red, green, blue and opacity in 0..1.
        text: A text, whose middle is the position.
    """

    kind: ShapeKind
    frame: str
    position: np.ndarray
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    size: np.ndarray = field(default_factory=lambda: np.zeros(3))
    end: np.ndarray = field(default_factory=lambda: np.zeros(3))
    width: float = 0.0
    colour: tuple[float, float, float, float] = (0.2, 0.6, 1.0, 0.9)
    text: str = ""

    def moved(self, pose: Pose, frame: str) -> "Shape":
        """Return the shape in another frame, in which `pose` is that of the present one."""
        return self.turned(pose.matrix, pose.position, frame)

    def turned(self, rotation: np.ndarray, origin: np.ndarray, frame: str) -> "Shape":
        """Return the shape in another frame.

        Args:
            rotation: Axes of the present frame in the other one, as columns.  # (3, 3)
            origin: Origin of the present frame in the other one [m].  # (3,)
            frame: The other frame.
        """
        return replace(
            self,
            frame=frame,
            position=origin + rotation @ self.position,
            axes=rotation @ self.axes,
            end=origin + rotation @ self.end,
        )


class TfFrame(NamedTuple):
    """A frame of /tf or /tf_static.

    Attributes:
        parent: Its parent.
        position: In the parent [m].  # (3,)
        quat_wxyz: In the parent.  # (4,)
    """

    parent: str
    position: np.ndarray
    quat_wxyz: np.ndarray
