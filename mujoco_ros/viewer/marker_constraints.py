"""Handles of an interactive marker over the scene, which move it as its controls allow."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.drag_handles import Handle, handle_length, line_handle, turn_handle
from mujoco_ros.viewer.framing import ScreenProjection
from mujoco_ros.viewer.marker_descriptions import (
    ControlOrientation,
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
)
from mujoco_ros.viewer.marker_motion import FREE, LINES, PLANES, TURNS, control_axes

_PLANE_AT = 0.45  # place of the handle of a plane between its axes, as a share of their length


def control_handles(
    marker: InteractiveMarkerInfo, reference: Pose, frame: Pose, projection: ScreenProjection
) -> Iterator[Handle]:
    """Yield the handles of the controls that move a marker, from poses in ``world``.

    `reference` is the TF frame of the marker, `frame` the marker itself.
    """
    length = handle_length(frame, projection)
    is_centre_free = not any(control.mode in FREE for control in marker.controls)
    for number, control in enumerate(marker.controls):
        axes = _axes(marker, control, reference, frame, projection)
        local = Pose(quat_wxyz=control.quat_wxyz).matrix
        faces_camera = control.orientation is ControlOrientation.VIEW_FACING
        plane_at = 0.0 if faces_camera and is_centre_free else _PLANE_AT
        for handle in _handles(control.mode, axes, frame.position, length, plane_at):
            i = handle.axis
            colour = None if i is None else int(np.abs(local[:, i]).argmax())
            name = f"{handle.name} {number}"  # no handle of a target ends with a number
            yield replace(handle, name=name, control=control.name, axis=colour)


def _handles(
    mode: InteractionMode, axes: np.ndarray, origin: np.ndarray, length: float, plane_at: float
) -> Iterator[Handle]:
    if mode in FREE:
        yield Handle(name="move", point=origin)
    for i in LINES.get(mode, ()):
        yield line_handle(axes, i, origin, length)
    if mode in PLANES:
        point = origin + plane_at * length * (axes[:, 1] + axes[:, 2]) / np.sqrt(2.0)
        yield Handle(name="slide", axis=None, point=point, normal=axes[:, 0])
    for i in TURNS.get(mode, ()):
        yield turn_handle(axes, i, origin, length)


def _axes(
    marker: InteractiveMarkerInfo,
    control: MarkerControl,
    reference: Pose,
    frame: Pose,
    projection: ScreenProjection,
) -> np.ndarray:
    if control.orientation is ControlOrientation.VIEW_FACING:
        view = (projection.forward, -projection.right, projection.up)
        return np.asarray(np.stack(view, axis=1) @ Pose(quat_wxyz=control.quat_wxyz).matrix)
    return control_axes(marker, control, reference, frame)
