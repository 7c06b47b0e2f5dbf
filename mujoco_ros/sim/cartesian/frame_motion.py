"""Pose and velocity of the frames that Cartesian controllers move."""

import mujoco
import numpy as np

from mujoco_ros.control.cartesian.commands import FixedFrame
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.plant import Plant

_BODY = int(mujoco.mjtObj.mjOBJ_XBODY)


class FrameMotions:
    """Pose and velocity of the controlled frame of each robot, relative to its base.

    Attributes:
        bases: TF frame of the base by index of the robot, for robots with a controlled frame.
        values: Position [m], quaternion wxyz, velocity of the origin [m/s], angular velocity
            [rad/s]; all along the axes of the base.  # (robots, 13)
    """

    def __init__(self, plant: Plant) -> None:
        """Prepare for the current sample of a plant."""
        controllers = [control.cartesian for control in plant.controls]
        self._controllers = {
            index: it
            for index, it in enumerate(controllers)
            if isinstance(it, CartesianController) and it.chain is not None
        }
        self.bases = {
            index: it.chain.base.name for index, it in self._controllers.items() if it.chain
        }
        self.values = np.zeros((len(controllers), 13))
        self.values[:, 3] = 1.0
        self._model, self._data, self._sample = plant.model, plant.data, plant.sample
        self._poses, self._velocities = np.zeros((2, 7)), np.zeros((2, 6))
        self._inverse, self._offset, self._turn = np.zeros(7), np.zeros(3), np.zeros(3)

    def update(self) -> None:
        """Compute `values` of the current sample."""
        inverse, offset, turn = self._inverse, self._offset, self._turn
        for index, controller in self._controllers.items():
            chain = controller.chain
            if chain is None:
                continue
            (frame, base), (moving, carried) = self._poses, self._velocities
            self._measure(chain.frame, frame, moving)
            self._measure(chain.base, base, carried)
            row = self.values[index]
            mujoco.mju_negPose(inverse[:3], inverse[3:], base[:3], base[3:])
            mujoco.mju_mulPose(row[:3], row[3:7], inverse[:3], inverse[3:], frame[:3], frame[3:])
            np.subtract(frame[:3], base[:3], out=offset)
            mujoco.mju_cross(turn, carried[:3], offset)
            turn += carried[3:]
            np.subtract(moving[3:], turn, out=offset)
            mujoco.mju_rotVecQuat(row[7:10], offset, inverse[3:])
            np.subtract(moving[:3], carried[:3], out=offset)
            mujoco.mju_rotVecQuat(row[10:], offset, inverse[3:])

    def _measure(self, frame: FixedFrame, pose: np.ndarray, velocity: np.ndarray) -> None:
        """Write the pose (7,) of a frame in the world, and its angular and linear velocity (6,)."""
        sample, body = self._sample, frame.body
        position, quat = sample.xpos[body], sample.xquat[body]
        mujoco.mju_mulPose(pose[:3], pose[3:], position, quat, frame.position, frame.quat_wxyz)
        mujoco.mj_objectVelocity(self._model, self._data, _BODY, body, velocity, 0)
        np.subtract(pose[:3], position, out=self._offset)
        mujoco.mju_cross(self._turn, velocity[:3], self._offset)
        velocity[3:] += self._turn
