"""Where the tool is, and how it moves with the joints."""

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.model.pose import Pose


class Kinematics:
    """Forward kinematics of a chain, on data of its own."""

    def __init__(self, chain: Chain) -> None:
        """Take all other joints as in the model's initial posture."""
        self.chain = chain
        self._data = mujoco.MjData(chain.model)
        self._jacobian = np.zeros((6, chain.model.nv))

    def pose(self, q: np.ndarray) -> Pose:
        """Return the tool's pose in ``world``."""
        self._data.qpos[self.chain.qpos] = q
        mujoco.mj_kinematics(self.chain.model, self._data)
        return site_pose(self._data, self.chain.site)

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Return what the tool's velocity is per velocity of the joints.

        Returns:
            Linear velocity of the tool's origin in the first three rows, angular velocity in the
            others, both along the axes of ``world``.  # (6, k)
        """
        model, data = self.chain.model, self._data
        data.qpos[self.chain.qpos] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_jacSite(model, data, self._jacobian[:3], self._jacobian[3:], self.chain.site)
        return self._jacobian[:, self.chain.dof]


def site_pose(data: mujoco.MjData, site: int) -> Pose:
    """Return the pose in ``world`` of a site whose kinematics are computed."""
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, data.site_xmat[site])
    return Pose(position=data.site_xpos[site].copy(), quat_wxyz=quat)
