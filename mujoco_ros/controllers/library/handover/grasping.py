"""Poses of the tools that pass a box from hand to hand."""

import mujoco
import numpy as np

from mujoco_ros.model.pose import Pose

_UP = np.array([0.0, 0.0, 1.0])


def presenting(position: np.ndarray, heading: float) -> Pose:
    """Return the pose of a tool that holds a box out: horizontal, with its fingers side by side.

    Args:
        position: Of the tool in ``world`` [m].  # (3,)
        heading: Direction of its z axis about the vertical [rad].
    """
    z = np.array([np.cos(heading), np.sin(heading), 0.0])
    y = np.cross(_UP, z)
    return _pose(position, y, z)


def receiving(box: Pose, giver: Pose) -> Pose:
    """Return the pose of a tool that grasps a box from the side opposite to the one that holds it.

    The tools face each other, and the fingers of one are at a right angle to those of the other.

    Args:
        box: Pose of the box in ``world``.
        giver: Pose of the tool that holds it.
    """
    axes, hand = box.matrix, giver.matrix
    z = _nearest(axes, -hand[:, 2])
    y = _nearest(axes, hand[:, 0])
    return _pose(box.position, y, z)


def behind(tool: Pose, distance: float) -> Pose:
    """Return the pose of a tool that is drawn back along its z axis by a distance [m]."""
    position = tool.position - distance * tool.matrix[:, 2]
    return Pose(position=position, quat_wxyz=tool.quat_wxyz)


def _nearest(axes: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the axis of a box, in either sense, that is nearest to a direction.  # (3,)"""
    parts = axes.T @ direction
    axis = int(np.argmax(np.abs(parts)))
    nearest: np.ndarray = np.sign(parts[axis]) * axes[:, axis]
    return nearest


def _pose(position: np.ndarray, y: np.ndarray, z: np.ndarray) -> Pose:
    quat_wxyz = np.empty(4)
    mujoco.mju_mat2Quat(quat_wxyz, np.column_stack([np.cross(y, z), y, z]).ravel())
    return Pose(position=np.array(position, dtype=float), quat_wxyz=quat_wxyz)
