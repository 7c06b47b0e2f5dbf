"""Forward kinematics and Jacobian of the tool."""

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.model.body_tree import carriers
from mujoco_ros.model.pose import Pose

_SCALAR = int(mujoco.mjtJoint.mjJNT_SLIDE)
"""Joints of this type and of the next one, the hinge, have one position each."""


class Kinematics:
    """Forward kinematics of a chain, on a private MjData."""

    def __init__(self, chain: Chain) -> None:
        """Compute with all other joints at the model's initial positions."""
        self.chain = chain
        self._data = mujoco.MjData(chain.model)
        self._jacobian = np.zeros((6, chain.model.nv))

    def pose(self, q: np.ndarray) -> Pose:
        """Return the tool's pose in ``world``."""
        self._data.qpos[self.chain.qpos] = q
        mujoco.mj_kinematics(self.chain.model, self._data)
        return self.chain.tool_pose(self._data)

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Return the Jacobian of the tool's origin, along the axes of ``world``.  # (6, k)

        The first three rows are the linear velocity, the others the angular velocity.
        """
        model, data = self.chain.model, self._data
        data.qpos[self.chain.qpos] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        linear, angular = self._jacobian[:3], self._jacobian[3:]
        if self.chain.site < 0:
            mujoco.mj_jacBody(model, data, linear, angular, self.chain.body)
        else:
            mujoco.mj_jacSite(model, data, linear, angular, self.chain.site)
        return self._jacobian[:, self.chain.dof]


def within_limits(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    """Return positions clipped to the joint limits, which measured ones may exceed.  # (nq,)."""
    joints = np.flatnonzero(model.jnt_limited & (model.jnt_type >= _SCALAR))
    addresses, clipped = model.jnt_qposadr[joints], qpos.copy()
    clipped[addresses] = np.clip(qpos[addresses], *model.jnt_range[joints].T)
    return clipped


def moving_dofs(model: mujoco.MjModel, body: int) -> np.ndarray:
    """Return which degrees of freedom move a body.  # (nv,) bool"""
    return np.isin(model.dof_bodyid, carriers(model, body))
