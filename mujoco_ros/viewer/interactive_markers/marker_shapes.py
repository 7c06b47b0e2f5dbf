"""Shapes of an interactive marker at its pose."""

from collections.abc import Iterator

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.interactive_markers.descriptions import (
    ControlOrientation,
    InteractiveMarkerInfo,
)
from mujoco_ros.viewer.message_shapes import Shape, ShapeKind

_LABEL_HEIGHT = 1.2
"""Height of the description above the marker, as a share of its scale."""
_WHITE = (1.0, 1.0, 1.0, 1.0)


def interactive_marker_shapes(marker: InteractiveMarkerInfo) -> Iterator[Shape]:
    """Yield the shapes of its controls, and its description, in its frame.

    Shapes of a control that faces the camera have the orientation of the marker.
    """
    fixed = Pose(position=marker.pose.position, quat_wxyz=marker.initial_quat)
    for control in marker.controls:
        is_fixed = control.orientation is ControlOrientation.FIXED
        for shape in control.shapes:
            yield shape.moved(fixed if is_fixed else marker.pose, marker.frame)
        yield from control.placed
    yield Shape(
        kind=ShapeKind.TEXT,
        frame=marker.frame,
        position=marker.pose.position + np.array([0.0, 0.0, _LABEL_HEIGHT * marker.scale]),
        colour=_WHITE,
        text=marker.description or marker.name,
    )
