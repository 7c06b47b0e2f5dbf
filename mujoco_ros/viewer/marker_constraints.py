"""Motions of an interactive marker that its controls allow: handles, and poses as numbers."""

from collections.abc import Iterator
from dataclasses import replace

import mujoco
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

_MODE = InteractionMode
_LINES = {_MODE.MOVE_AXIS: (0,), _MODE.MOVE_3D: (0, 1, 2), _MODE.MOVE_ROTATE_3D: (0, 1, 2)}
_TURNS = {
    _MODE.ROTATE_AXIS: (0,),
    _MODE.MOVE_ROTATE: (0,),
    _MODE.ROTATE_3D: (0, 1, 2),
    _MODE.MOVE_ROTATE_3D: (0, 1, 2),
}
_PLANES = {_MODE.MOVE_PLANE, _MODE.MOVE_ROTATE}
_FREE = {_MODE.MOVE_3D, _MODE.MOVE_ROTATE_3D}
"""Modes and the axes of the control along or about which they move the marker."""
_PLANE_AT = 0.45  # place of the handle of a plane between its axes, as a share of their length
_RANK = 1e-3  # smallest sine of the angle between two directions that differ


def moving_control(
    marker: InteractiveMarkerInfo, wanted: Pose | None = None
) -> MarkerControl | None:
    """Return the control that moves the marker nearest to a pose in its frame, or the first one."""
    moving = [control for control in marker.controls if control.mode > _MODE.BUTTON]
    if wanted is None:
        return moving[0] if moving else None

    def distance(control: MarkerControl) -> float:
        return _distance(allowed(replace(marker, controls=(control,)), wanted), wanted)

    return min(moving, key=distance, default=None)


def control_handles(
    marker: InteractiveMarkerInfo, reference: Pose, frame: Pose, projection: ScreenProjection
) -> Iterator[Handle]:
    """Yield the handles of the controls that move a marker, from poses in ``world``.

    `reference` is the TF frame of the marker, `frame` the marker itself.
    """
    length = handle_length(frame, projection)
    is_centre_free = not any(control.mode in _FREE for control in marker.controls)
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


def allowed(marker: InteractiveMarkerInfo, wanted: Pose) -> Pose:
    """Return the pose nearest to `wanted` that the controls allow, both in the marker's frame."""
    moves: list[np.ndarray] = []
    turns: list[np.ndarray] = []
    for control in marker.controls:
        axes, mode = _axes(marker, control, Pose(), marker.pose, None), control.mode
        if control.orientation is ControlOrientation.VIEW_FACING and mode > _MODE.BUTTON:
            moves += [*np.eye(3)] if mode in _LINES or mode in _PLANES else []
            turns += [*np.eye(3)] if mode in _TURNS else []
            continue
        moves += (axes[:, i] for i in _LINES.get(mode, ()))
        moves += (axes[:, i] for i in (1, 2) if mode in _PLANES)
        turns += (axes[:, i] for i in _TURNS.get(mode, ()))
    present = marker.pose
    basis = _basis(moves)
    offset = basis @ basis.T @ (wanted.position - present.position)
    return Pose(position=present.position + offset, quat_wxyz=_turned(present, wanted, turns))


def _handles(
    mode: InteractionMode, axes: np.ndarray, origin: np.ndarray, length: float, plane_at: float
) -> Iterator[Handle]:
    if mode in _FREE:
        yield Handle(name="move", point=origin)
    for i in _LINES.get(mode, ()):
        yield line_handle(axes, i, origin, length)
    if mode in _PLANES:
        point = origin + plane_at * length * (axes[:, 1] + axes[:, 2]) / np.sqrt(2.0)
        yield Handle(name="slide", axis=None, point=point, normal=axes[:, 0])
    for i in _TURNS.get(mode, ()):
        yield turn_handle(axes, i, origin, length)


def _axes(
    marker: InteractiveMarkerInfo,
    control: MarkerControl,
    reference: Pose,
    frame: Pose,
    projection: ScreenProjection | None,
) -> np.ndarray:
    own = Pose(quat_wxyz=control.quat_wxyz).matrix
    if control.orientation is ControlOrientation.FIXED:
        fixed = reference @ Pose(quat_wxyz=marker.initial_quat)
        return np.asarray(fixed.matrix @ own)
    if control.orientation is ControlOrientation.VIEW_FACING and projection is not None:
        view = (projection.forward, -projection.right, projection.up)
        return np.asarray(np.stack(view, axis=1) @ own)
    return np.asarray(frame.matrix @ own)


def _distance(one: Pose, other: Pose) -> float:
    """Return a measure of the difference of two poses, without errors of rounding."""
    first, second = (pose.quat_wxyz / np.linalg.norm(pose.quat_wxyz) for pose in (one, other))
    turn = min(np.linalg.norm(first - second), np.linalg.norm(first + second))
    return round(one.distance_to(other) + float(turn), 9)


def _basis(directions: list[np.ndarray]) -> np.ndarray:
    """Return orthonormal columns that span the directions.  # (3, rank)"""
    if not directions:
        return np.zeros((3, 0))
    vectors, values, _ = np.linalg.svd(np.stack(directions, axis=1))
    return np.asarray(vectors[:, : int((values > _RANK).sum())])


def _turned(present: Pose, wanted: Pose, axes: list[np.ndarray]) -> np.ndarray:
    """Return the wanted orientation, or the part of it about the only axis."""
    basis = _basis(axes)
    if basis.shape[1] == 0:
        return present.quat_wxyz
    goal = wanted.quat_wxyz / np.linalg.norm(wanted.quat_wxyz)
    if basis.shape[1] > 1:
        return np.asarray(goal)
    turn, inverse, quat = np.zeros((3, 4))
    mujoco.mju_negQuat(inverse, present.quat_wxyz)
    mujoco.mju_mulQuat(turn, goal, inverse)
    turn[1:] = basis[:, 0] * (basis[:, 0] @ turn[1:])
    if mujoco.mju_normalize4(turn) == 0.0:  # half a turn about another axis
        return present.quat_wxyz
    mujoco.mju_mulQuat(quat, turn, present.quat_wxyz)
    return quat
