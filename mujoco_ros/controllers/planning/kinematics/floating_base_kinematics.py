"""Kinematics of a robot with a floating base."""

import mujoco
import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.controllers.planning.kinematics.chain import tool_ids
from mujoco_ros.model.body_tree import free_joint
from mujoco_ros.model.errors import UserInputError


class FloatingBaseKinematics:
    """Positions and velocities of a robot with a floating base, on a private MjData.

    The degrees of freedom are three linear ones of the base along the axes of ``world``, three
    angular ones along the axes of the base, then the robot's joints.

    Attributes:
        model: Robot and scene; constant.
        data: Kinematics of the last `update`.
    """

    def __init__(self, model: mujoco.MjModel, qpos: np.ndarray, dof: np.ndarray, part: str) -> None:
        """Find the base of a body `part`, by addresses of the robot's joints (n,)."""
        self.model, self.data = model, mujoco.MjData(model)
        self.base = int(model.body_rootid[tool_ids(model, part)[1]])  # id of the base's body
        joint = free_joint(model, self.base)
        if joint is None:
            raise UserInputError(f"body '{part}' does not belong to a floating base")
        self.mass = float(model.body_subtreemass[self.base])  # mass of the robot [kg]
        at, first = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        # Addresses of the degrees of freedom in qvel (6 + n,)
        self.dofs = np.concatenate((np.arange(first, first + 6), dof))
        self.size = len(self.dofs)  # number of degrees of freedom
        data = self.data
        self._columns = as_slice(self.dofs)
        self._qpos: np.ndarray = data.qpos
        self._qvel: np.ndarray = data.qvel
        # View of the base's position in ``world`` [m] (3,)
        self.position: np.ndarray = self._qpos[at : at + 3]
        # View of the base's orientation in ``world`` (4,)
        self.quat_wxyz: np.ndarray = self._qpos[at + 3 : at + 7]
        self._joints = as_slice(qpos)
        # View of the centre of mass in ``world`` [m] (3,)
        self.com: np.ndarray = data.subtree_com[self.base]
        # View of its velocity, after `update_velocity` [m/s] (3,)
        self.com_velocity: np.ndarray = data.subtree_linvel[self.base]
        self._full = np.zeros((6, model.nv))
        self._forces, self._linear = np.zeros(model.nv), slice(first, first + 3)
        self._inertia, self._block = np.zeros((model.nv, model.nv)), np.ix_(self.dofs, self.dofs)

    @property
    def q(self) -> np.ndarray:
        """Positions of the joints [rad or m].  # (n,)"""
        joints: np.ndarray = self._qpos[self._joints]
        return joints

    def update(self, position: np.ndarray, quat_wxyz: np.ndarray, q: np.ndarray) -> None:
        """Set the pose of the base and the joint positions."""
        self.position[:] = position
        self.quat_wxyz[:] = quat_wxyz
        self._qpos[self._joints] = q
        self.refresh()

    def refresh(self) -> None:
        """Compute all frames from the positions."""
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def update_velocity(self, velocity: np.ndarray) -> None:
        """Set the velocity of all degrees of freedom.  # (6 + n,)"""
        self._qvel[self._columns] = velocity
        mujoco.mj_comVel(self.model, self.data)
        mujoco.mj_subtreeVel(self.model, self.data)

    def integrate(self, velocity: np.ndarray, period: float) -> None:
        """Move with a constant velocity (6 + n,) for `period` [s]."""
        self._qvel[self._columns] = velocity
        mujoco.mj_integratePos(self.model, self._qpos, self._qvel, period)
        self.refresh()

    def jacobian(self, point: np.ndarray, body: int, out: np.ndarray) -> None:
        """Compute the Jacobian of a point (in ``world``) of a body.  # (6, 6 + n)

        The first three rows are the linear velocity of the point, the others the angular velocity
        of the body, along the axes of ``world``.
        """
        full = self._full
        mujoco.mj_jac(self.model, self.data, full[:3], full[3:], point, body)
        out[:] = full[:, self._columns]

    def com_jacobian(self, out: np.ndarray) -> None:
        """Compute the Jacobian of the centre of mass.  # (3, 6 + n)"""
        full = self._full
        mujoco.mj_jacSubtreeCom(self.model, self.data, full[:3], self.base)
        out[:] = full[:3, self._columns]

    def drift(self, point: np.ndarray, body: int, out: np.ndarray) -> None:
        """Compute J' v of `jacobian` after `update_velocity`.  # (6,)"""
        full = self._full
        mujoco.mj_jacDot(self.model, self.data, full[:3], full[3:], point, body)
        np.matmul(full, self._qvel, out=out)

    def com_drift(self) -> np.ndarray:
        """Return J' v of `com_jacobian` after `update_velocity`.  # (3,)"""
        # Inverse dynamics without accelerations: the force on the base moves the centre of mass.
        mujoco.mj_rne(self.model, self.data, 0, self._forces)
        drift: np.ndarray = self._forces[self._linear] / self.mass + self.model.opt.gravity
        return drift

    def mass_matrix(self, out: np.ndarray) -> None:
        """Compute the inertia matrix with rotors.  # (6 + n, 6 + n)"""
        mujoco.mj_makeM(self.model, self.data)
        mujoco.mj_fullM(self.model, self.data, self._inertia)
        out[:] = self._inertia[self._block]

    def bias_forces(self, out: np.ndarray) -> None:
        """Compute the forces of gravity, velocities and damping after `update_velocity`.

        They are those that zero accelerations need.  # (6 + n,)
        """
        mujoco.mj_rne(self.model, self.data, 0, self._forces)
        self._forces += self.model.dof_damping * self._qvel
        out[:] = self._forces[self._columns]
