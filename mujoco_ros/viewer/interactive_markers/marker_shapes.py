"""Shapes of an interactive marker at its pose."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.interactive_markers.descriptions import (
    ControlOrientation,
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
)
from mujoco_ros.viewer.message_shapes import Carrier, Shape, ShapeKind

_LABEL_HEIGHT = 1.2
"""Height of the description above the marker, as a share of its scale."""
_WHITE = (1.0, 1.0, 1.0, 1.0)
_SIDES = 16
"""Lines of a circle."""
_COLOURS = ((0.9, 0.25, 0.25, 0.9), (0.25, 0.7, 0.3, 0.9), (0.25, 0.45, 0.95, 0.9))
_LINES = {InteractionMode.MOVE_AXIS}
_CIRCLES = {InteractionMode.MOVE_PLANE, InteractionMode.ROTATE_AXIS, InteractionMode.MOVE_ROTATE}


def default_count(control: MarkerControl) -> int:
    """Return the number of arrows, or lines of a circle, that are drawn for a control."""
    if not control.is_bare:
        return 0
    return 2 if control.mode in _LINES else _SIDES if control.mode in _CIRCLES else 0


def interactive_marker_shapes(marker: InteractiveMarkerInfo) -> Iterator[Shape]:
    """Yield the shapes that its server describes, and its description.

    Shapes of a control that faces the camera have the orientation of the marker.
    """
    for control in marker.controls:
        pose = _pose(marker, control)
        rotation = pose.matrix
        for shape in control.shapes:
            yield shape.turned(rotation, pose.position, marker.frame)
        if control.attachment is not None:
            carrier = Carrier(control.attachment, marker.frame, pose)
            for shape in control.placed:
                yield replace(shape, carrier=carrier)
    yield Shape(
        kind=ShapeKind.TEXT,
        frame=marker.frame,
        position=marker.pose.position + np.array([0.0, 0.0, _LABEL_HEIGHT * marker.scale]),
        colour=_WHITE,
        text=marker.description or marker.name,
    )


def default_shapes(marker: InteractiveMarkerInfo) -> Iterator[Shape]:
    """Yield what is drawn for the controls for which the server describes nothing."""
    for control in marker.controls:
        pose = _pose(marker, control)
        rotation = pose.matrix
        for shape in _default_shapes(control, marker.scale):
            yield shape.turned(rotation, pose.position, marker.frame)


def _pose(marker: InteractiveMarkerInfo, control: MarkerControl) -> Pose:
    """Return the pose of a control in the frame of its marker."""
    if control.orientation is ControlOrientation.FIXED:
        return replace(marker.pose, quat_wxyz=marker.initial_quat)
    return marker.pose


def _default_shapes(control: MarkerControl, scale: float) -> Iterator[Shape]:
    """Yield arrows along the x axis of a control without shapes, or a circle about it."""
    if not default_count(control):
        return
    axes = Pose(quat_wxyz=control.quat_wxyz).matrix
    colour = _COLOURS[int(np.abs(axes[:, 0]).argmax())]
    if control.mode in _LINES:
        kind, width = ShapeKind.ARROW, 0.1 * scale
        x = scale * axes[:, 0]
        ends = [(0.5 * x, 0.9 * x), (-0.5 * x, -0.9 * x)]
    else:
        kind, width = ShapeKind.LINE, 0.05 * scale
        angles = np.linspace(0.0, 2.0 * np.pi, _SIDES + 1)
        circle = np.stack([0.0 * angles, np.cos(angles), np.sin(angles)], axis=1)
        ends = list(pairwise(0.75 * scale * circle @ axes.T))
    for start, end in ends:
        yield Shape(kind=kind, frame="", position=start, end=end, width=width, colour=colour)
