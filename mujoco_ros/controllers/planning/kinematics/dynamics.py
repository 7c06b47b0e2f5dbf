"""What torques a motion takes: the engine's inverse dynamics, on data of its own."""

import mujoco
import numpy as np

from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.kinematics.limits import Payload


class Dynamics:
    """Inverse dynamics of a chain that carries something, free of contacts and constraints.

    All other joints stand still where the model puts them.

    Attributes:
        friction: Viscous, of the joints [Nms/rad or Ns/m].  # (k,)
    """

    def __init__(self, chain: Chain, payload: Payload | None = None) -> None:
        """Carry `payload`."""
        self.chain, self.payload = chain, payload
        model = chain.model
        self._data = data = mujoco.MjData(model)
        # Controllers ask at every tick, so what stays the same is looked up once.
        self._qpos, self._qvel, self._qacc = data.qpos, data.qvel, data.qacc
        self._at, self._dof = as_slice(chain.qpos), as_slice(chain.dof)
        self._torques = np.zeros(model.nv)
        self._full = np.zeros((model.nv, model.nv))
        self._jacobian, self._drift = np.zeros((2, 3, model.nv))
        self.friction = model.dof_damping[chain.dof]
        self._armature = model.dof_armature[chain.dof]
        self._is_lightened, self._gravity = bool(model.ngravcomp), model.opt.gravity.copy()
        self._body = int(model.site_bodyid[chain.site])
        self._place, self._turn = data.site_xpos[chain.site], data.site_xmat[chain.site]

    def torques(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """Return the torques that a motion takes: inertia, gravity, springs, friction.  # (k,)."""
        data = self._data
        torques = self.rigid(q, dq, ddq)
        mujoco.mj_passive(self.chain.model, data)
        torques -= (data.qfrc_spring + data.qfrc_damper + data.qfrc_fluid)[self._dof]
        return torques

    def rigid(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """Return those of inertia and gravity alone, without springs and friction.  # (k,).

        Weight that the model takes off its bodies itself (``gravcomp``) is no matter of these.
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
        if self._is_lightened:
            mujoco.mj_passive(model, data)
            torques -= data.qfrc_gravcomp[dof]
        if self.payload is not None:
            torques += self._carrying(self.payload, dq, ddq)
        return torques

    def gravity(self, q: np.ndarray) -> np.ndarray:
        """Return the torques that hold still.  # (k,)."""
        rest = np.zeros(self.chain.size)
        return self.torques(q, rest, rest)

    def inertia(self, q: np.ndarray) -> np.ndarray:
        """Return the joint-space inertia, rotors included, without the payload.  # (k, k)."""
        model, data, dof = self.chain.model, self._data, self.chain.dof
        self._qpos[self._at] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, self._full)
        return np.asarray(self._full[np.ix_(dof, dof)])

    def _carrying(self, payload: Payload, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """Return what moving a point of mass takes: its weight and inertia, at its lever."""
        model, data, dof = self.chain.model, self._data, self._dof
        at = self._place + self._turn.reshape(3, 3) @ payload.com
        mujoco.mj_jac(model, data, self._jacobian, None, at, self._body)
        mujoco.mj_jacDot(model, data, self._drift, None, at, self._body)
        jacobian, drift = self._jacobian[:, dof], self._drift[:, dof]
        acceleration = jacobian @ ddq + drift @ dq - self._gravity
        torques: np.ndarray = payload.mass * (acceleration @ jacobian)
        return torques
