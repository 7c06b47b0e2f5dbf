"""Inverse dynamics of a chain."""

import mujoco
import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.limits import Payload


class Dynamics:
    """Inverse dynamics of a chain with a payload, without contacts and constraints.

    All other joints rest at the model's initial positions. The computation uses a private MjData.
    """

    def __init__(self, chain: Chain, payload: Payload | None = None) -> None:
        self.chain, self.payload = chain, payload
        model = chain.model
        self._data = data = mujoco.MjData(model)
        # Controllers call this at every tick, so the constants are resolved once.
        self._qpos, self._qvel, self._qacc = data.qpos, data.qvel, data.qacc
        self._at, self._dof = as_slice(chain.qpos), as_slice(chain.dof)
        self._torques = np.zeros(model.nv)
        self._jacobian, self._drift = np.zeros((2, 3, model.nv))
        # Viscous friction of the joints [Nms/rad or Ns/m] (k,)
        self.friction = model.dof_damping[chain.dof]
        self._armature = model.dof_armature[chain.dof]
        self._has_gravcomp, self._gravity = bool(model.ngravcomp), model.opt.gravity.copy()
        self._body = chain.body
        self._position, self._rotation = chain.tool_frame(data)

    def torques(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """Return the torques of a motion: inertia, gravity, springs, friction.  # (k,)."""
        data = self._data
        torques = self.rigid(q, dq, ddq)
        mujoco.mj_passive(self.chain.model, data)
        torques -= (data.qfrc_spring + data.qfrc_damper + data.qfrc_fluid)[self._dof]
        return torques

    def rigid(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """Return the torques of inertia and gravity, without springs and friction.  # (k,).

        Gravity compensation of the model (``gravcomp``) is subtracted.
        """
        model, data, dof = self.chain.model, self._data, self._dof
        self._qpos[self._at] = q
        self._qvel[dof] = dq
        self._qacc[dof] = ddq
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 1, self._torques)
        torques: np.ndarray = self._torques[dof] + self._armature * ddq
        if self._has_gravcomp:
            mujoco.mj_passive(model, data)
            torques -= data.qfrc_gravcomp[dof]
        if self.payload is not None:
            torques += self._payload_torques(self.payload, dq, ddq)
        return torques

    def gravity(self, q: np.ndarray) -> np.ndarray:
        """Return the torques that hold a configuration.  # (k,)."""
        rest = np.zeros(self.chain.size)
        return self.torques(q, rest, rest)

    def _payload_torques(self, payload: Payload, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """Return the torques for the weight and inertia of a point mass.  # (k,)."""
        model, data, dof = self.chain.model, self._data, self._dof
        at = self._position + self._rotation.reshape(3, 3) @ payload.com
        mujoco.mj_jac(model, data, self._jacobian, None, at, self._body)
        mujoco.mj_jacDot(model, data, self._drift, None, at, self._body)
        jacobian, drift = self._jacobian[:, dof], self._drift[:, dof]
        acceleration = jacobian @ ddq + drift @ dq - self._gravity
        torques: np.ndarray = payload.mass * (acceleration @ jacobian)
        return torques
