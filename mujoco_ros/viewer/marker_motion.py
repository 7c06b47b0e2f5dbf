"""Motions of an interactive marker that its controls allow, and poses as numbers."""

from dataclasses import replace

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.marker_descriptions import (
    ControlOrientation,
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
)

_MODE = InteractionMode
LINES = {_MODE.MOVE_AXIS: (0,), _MODE.MOVE_3D: (0, 1, 2), _MODE.MOVE_ROTATE_3D: (0, 1, 2)}
TURNS = {
    _MODE.ROTATE_AXIS: (0,),
    _MODE.MOVE_ROTATE: (0,),
    _MODE.ROTATE_3D: (0, 1, 2),
    _MODE.MOVE_ROTATE_3D: (0, 1, 2),
}
PLANES = {_MODE.MOVE_PLANE, _MODE.MOVE_ROTATE}
FREE = {_MODE.MOVE_3D, _MODE.MOVE_ROTATE_3D}
"""Modes and the axes of the control along or about which they move the marker."""
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


def control_axes(
    marker: InteractiveMarkerInfo, control: MarkerControl, reference: Pose, frame: Pose
) -> np.ndarray:
    """Return the axes of a control that does not face the camera, as columns in the world.

    `reference` is the TF frame of the marker, `frame` the marker itself.
    """
    own = Pose(quat_wxyz=control.quat_wxyz).matrix
    if control.orientation is ControlOrientation.FIXED:
        fixed = reference @ Pose(quat_wxyz=marker.initial_quat)
        return np.asarray(fixed.matrix @ own)
    return np.asarray(frame.matrix @ own)


def allowed(marker: InteractiveMarkerInfo, wanted: Pose) -> Pose:
    """Return the pose nearest to `wanted` that the controls allow, both in the marker's frame."""
    moves: list[np.ndarray] = []
    turns: list[np.ndarray] = []
    for control in marker.controls:
        axes, mode = control_axes(marker, control, Pose(), marker.pose), control.mode
        if control.orientation is ControlOrientation.VIEW_FACING and mode > _MODE.BUTTON:
            moves += [*np.eye(3)] if mode in LINES or mode in PLANES else []
            turns += [*np.eye(3)] if mode in TURNS else []
            continue
        moves += (axes[:, i] for i in LINES.get(mode, ()))
        moves += (axes[:, i] for i in (1, 2) if mode in PLANES)
        turns += (axes[:, i] for i in TURNS.get(mode, ()))
    present = marker.pose
    basis = _basis(moves)
    offset = basis @ basis.T @ (wanted.position - present.position)
    return Pose(position=present.position + offset, quat_wxyz=_turned(present, wanted, turns))


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
