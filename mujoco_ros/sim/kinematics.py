"""Poses, velocities and accelerations in the frames that ROS defines."""

from collections.abc import Sequence
from typing import Protocol

import mujoco
import numpy as np

from mujoco_ros.model.robot.frame_names import OPTICAL_WXYZ
from mujoco_ros.model.robot.layout import FloatingBase
from mujoco_ros.sim.sample import Sample


class Poses(Protocol):
    """Poses of bodies and cameras, as a `Sample` and MjData have them."""

    @property
    def xpos(self) -> np.ndarray:
        """Positions of bodies in the world.  # (nbody, 3)"""

    @property
    def xquat(self) -> np.ndarray:
        """Orientations of bodies in the world, wxyz.  # (nbody, 4)"""

    @property
    def cam_xpos(self) -> np.ndarray:
        """Positions of cameras in the world.  # (ncam, 3)"""

    @property
    def cam_xmat(self) -> np.ndarray:
        """Orientations of cameras in the world.  # (ncam, 9)"""


class BaseMotion:
    """Velocity and acceleration of floating bases in their own frame (REP-103 child frame).

    Attributes:
        values: Linear velocity [m/s] and classical linear acceleration [m/s²] of the frame's
            origin, gravity not subtracted.  # (bases, 6)
    """

    def __init__(
        self, bases: Sequence[FloatingBase], sample: Sample, *, measured: bool = False
    ) -> None:
        """Prepare the views into `sample`, whose arrays must stay the same objects.

        Args:
            bases: The bases.
            sample: The sample.
            measured: Whether the orientation and the velocity are the measured ones.
        """
        qpos, qvel = sample.qpos, sample.qvel
        if measured:
            qpos, qvel = sample.measured_qpos, sample.measured_qvel
        self.values = np.zeros((len(bases), 6))
        self._inverse = np.zeros(4)
        self._rows = [
            (
                qpos[base.qpos + 3 : base.qpos + 7],
                qvel[base.dof : base.dof + 3],
                sample.qacc[base.dof : base.dof + 3],
                self.values[row, :3],
                self.values[row, 3:],
            )
            for row, base in enumerate(bases)
        ]

    def update(self) -> None:
        """Compute `values` of the current sample.

        MuJoCo keeps a free joint's linear velocity in the world frame and its angular velocity in
        the body frame. The derivative of the former is the classical acceleration, and that of the
        latter the angular acceleration in the body frame, as the rotation adds ω x ω = 0.
        """
        rotate, inverse = mujoco.mju_rotVecQuat, self._inverse
        for quat, velocity, acceleration, linear, classical in self._rows:
            mujoco.mju_negQuat(inverse, quat)
            rotate(linear, velocity, inverse)
            rotate(classical, acceleration, inverse)


class RelativePoses:
    """Poses of bodies in the frames of their parents.

    Attributes:
        values: Position [m] and quaternion wxyz.  # (bodies, 7)
    """

    def __init__(self, bodies: Sequence[int], parents: Sequence[int], sample: Poses) -> None:
        """Prepare for `bodies`, each relative to its entry in `parents` (0 is the world)."""
        self.values = np.zeros((len(bodies), 7))
        self._bodies = np.array(bodies, dtype=np.intp)
        self._parents = np.array(parents, dtype=np.intp)
        self._sample = sample

    def update(self) -> None:
        """Compute `values` of the current sample."""
        xpos, xquat = self._sample.xpos, self._sample.xquat
        parent, child = xquat[self._parents], xquat[self._bodies]
        w, v = parent[:, :1], -parent[:, 1:]  # the inverse rotation
        offset = xpos[self._bodies] - xpos[self._parents]
        turn = 2.0 * np.cross(v, offset)
        self.values[:, :3] = offset + w * turn + np.cross(v, turn)
        child_w, child_v = child[:, :1], child[:, 1:]
        self.values[:, 3:4] = w * child_w - np.sum(v * child_v, axis=1, keepdims=True)
        self.values[:, 4:] = w * child_v + child_w * v + np.cross(v, child_v)


class OpticalPoses:
    """Poses of the optical frames (REP-103) of cameras in the world.

    Attributes:
        values: Position [m] and quaternion wxyz.  # (cameras, 7)
    """

    def __init__(self, cameras: Sequence[int], sample: Poses) -> None:
        """Prepare for cameras, given by their ids."""
        self.values = np.zeros((len(cameras), 7))
        self._rows = [
            (sample.cam_xpos[camera], sample.cam_xmat[camera], row[:3], row[3:])
            for camera, row in zip(cameras, self.values, strict=True)
        ]
        self._quat, self._turn = np.zeros(4), np.array(OPTICAL_WXYZ)

    def update(self) -> None:
        """Compute `values` of the current sample."""
        for position, matrix, at, quat in self._rows:
            at[:] = position
            mujoco.mju_mat2Quat(self._quat, matrix)
            mujoco.mju_mulQuat(quat, self._quat, self._turn)
