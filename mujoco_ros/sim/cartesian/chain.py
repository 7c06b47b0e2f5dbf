"""Kinematics and dynamics of the joints that move a frame."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import FixedFrame
from mujoco_ros.control.references import as_slice
from mujoco_ros.model.body_tree import carried
from mujoco_ros.sim.drives import Drives

_DISCRETE = int(mujoco.mjtIntegrator.mjINT_DISCRETE)
_COPIED = ("qpos", "qvel", "mocap_pos", "mocap_quat")
_PASSIVE = ("qfrc_gravcomp", "qfrc_spring")


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainJoints:
    """The joints of a chain, from the base on."""

    names: tuple[str, ...]
    indices: np.ndarray  # their indices among the joints of the robot (k,)
    qpos: np.ndarray  # their addresses in qpos (k,)
    dof: np.ndarray  # their addresses in qvel (k,)
    lower: np.ndarray  # smallest position [rad or m], -inf where unlimited (k,)
    upper: np.ndarray  # largest position [rad or m], inf where unlimited (k,)
    # Largest speed by the model [rad/s or m/s], inf where it has none (k,)
    max_velocity: np.ndarray
    max_effort: np.ndarray  # largest effort of the actuators [Nm or N], inf where unlimited (k,)
    takes_position: np.ndarray  # which take positions (k,) bool
    takes_effort: np.ndarray  # which take efforts (k,) bool


class FrameChain:
    """Kinematics and dynamics of a frame, computed on a copy of the state.

    Poses, velocities and the Jacobian are relative to the base, along its axes, and refer to the
    origin of the frame. The joints outside the chain are where they are measured.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        frame: FixedFrame,
        base: FixedFrame,
        joints: ChainJoints,
        drives: Drives,
        columns: np.ndarray,
    ) -> None:
        # The base is the root body of the robot that carries the frame.
        self.frame, self.base, self.joints = frame, base, joints
        self._model, self._drives, self._columns = model, drives, as_slice(columns)
        # Origin of the frame [m] and orientation wxyz, as last located.
        self.position, self.quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        # Linear rows, then angular rows; the array stays the same.
        self.jacobian = np.zeros((6, len(joints.names)))
        self.base_moves = bool(model.body_weldid[base.body])  # in the world
        self.carried = carried(model, base.body)  # whether the base carries a body (nbody,)
        self._qpos, self._dof = as_slice(joints.qpos), as_slice(joints.dof)
        self._square = joints.dof[:, None] * model.nv + joints.dof  # flat indices
        self._armature, self._damping = model.dof_armature, model.dof_damping  # may change
        # The attributes of MjData are slow to read.
        self._live = {name: getattr(data, name) for name in (*_COPIED, *_PASSIVE)}
        self._scratch: mujoco.MjData | None = None
        # Of all degrees of freedom, with views that would be slow to make at every step.
        self._full, self._inertia = np.zeros((6, model.nv)), np.zeros((model.nv, model.nv))
        self._linear, self._angular = self._full[:3], self._full[3:]
        self._by_axes = self.jacobian.reshape(2, 3, -1)
        self._turn = np.zeros(9)
        self._turn_matrix = self._turn.reshape(3, 3)
        self._effort, self._bias = np.zeros((2, model.nv))

    def prepare(self) -> None:
        """Allocate the copy of the state; in any thread."""
        if self._scratch is None:
            scratch = mujoco.MjData(self._model)
            self._copied = [(getattr(scratch, name), self._live[name]) for name in _COPIED]
            self._located_q, self._located_dq = scratch.qpos, scratch.qvel
            self._located_ddq = scratch.qacc
            self._xpos, self._xquat = scratch.xpos, scratch.xquat
            self._scratch = scratch

    def switch_pd(self, *, on: bool) -> None:
        """Switch the PD law of the joints; see `Drives.switch_pd`."""
        self._drives.switch_pd(self._columns, on=on)

    def measure(self, q: np.ndarray, dq: np.ndarray) -> None:
        """Copy the measured positions and velocities of the joints.  # (k,) each."""
        q[:], dq[:] = self._live["qpos"][self._qpos], self._live["qvel"][self._dof]

    def read(self) -> None:
        """Copy the measured state."""
        self.prepare()
        for copy, live in self._copied:
            copy[:] = live

    def locate(self, q: np.ndarray) -> None:
        """Compute pose and Jacobian of the frame at joint positions (k,), after `read`."""
        model, data = self._model, self._scratch
        self._located_q[self._qpos] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        self._locate_base()
        self._point, quat = self._pose(self.frame)
        self.position, self.quat = self.from_world(self._point, quat)
        mujoco.mj_jac(model, data, self._linear, self._angular, self._point, self.frame.body)
        mujoco.mju_quat2Mat(self._turn, self._from_base)
        np.matmul(self._turn_matrix, self._full[:, self._dof].reshape(2, 3, -1), out=self._by_axes)

    def drift(self, dq: np.ndarray) -> np.ndarray:
        """Return the frame's acceleration (6,) at constant joint velocities (k,), after `bias`."""
        model, data, body = self._model, self._scratch, self.frame.body
        mujoco.mj_jacDot(model, data, self._linear, self._angular, self._point, body)
        drift, out = self._full[:, self._dof] @ dq, np.empty(6)
        mujoco.mju_rotVecQuat(out[:3], drift[:3], self._from_base)
        mujoco.mju_rotVecQuat(out[3:], drift[3:], self._from_base)
        return out

    def _pose(self, frame: FixedFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return the pose of a frame in the world.  # (3,), (4,)"""
        return _product(
            self._xpos[frame.body], self._xquat[frame.body], frame.position, frame.quat_wxyz
        )

    def _locate_base(self) -> None:
        """Find the world in the base, for `from_world` and `turn_to_base`."""
        self._to_base, self._from_base = np.empty(3), np.empty(4)
        mujoco.mju_negPose(self._to_base, self._from_base, *self._pose(self.base))

    def locate_all(self) -> None:
        """Find all frames in the measured state, for `to_world` and `from_world`."""
        self.read()
        mujoco.mj_kinematics(self._model, self._scratch)
        self._locate_base()

    def to_world(
        self, frame: FixedFrame, position: np.ndarray, quat: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a pose that is given in a frame, in the world.  # (3,), (4,)."""
        return _product(*self._pose(frame), position, quat)

    def from_world(self, position: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a pose in the world, in the frame of the base.  # (3,), (4,)."""
        return _product(self._to_base, self._from_base, position, quat)

    def turn_to_base(self, frame: FixedFrame, vector: np.ndarray, out: np.ndarray) -> None:
        """Turn a vector (3,) from the axes of a frame into the axes of the base."""
        in_world = np.empty(3)
        mujoco.mju_rotVecQuat(out, vector, frame.quat_wxyz)
        mujoco.mju_rotVecQuat(in_world, out, self._xquat[frame.body])
        mujoco.mju_rotVecQuat(out, in_world, self._from_base)

    @property
    def is_discrete(self) -> bool:
        """Whether servos act on the positions at the end of a step, not at its begin."""
        return bool(self._model.opt.integrator == _DISCRETE)

    def stiffness(self) -> np.ndarray:
        """Return the present stiffness of the joints' servos [Nm/rad or N/m].  # (k,)"""
        stiffness: np.ndarray = self._drives.kp[self._columns] + self.servo_gains()[0]
        return stiffness

    def servo_gains(self) -> np.ndarray:
        """Return present stiffness and damping of MuJoCo's position servos, 0 for other joints.

        [Nm/rad or N/m, Nms/rad or Ns/m]  # (2, k)
        """
        return self._drives.servo_gains()[:, self._columns]

    def bias(self, dq: np.ndarray) -> np.ndarray:
        """Return the joint efforts of a motion without acceleration, when located.  # (k,)

        Gravity, Coriolis forces and damping, less springs and gravity compensation of the last
        step.
        """
        model, data = self._model, self._scratch
        self._located_dq[self._dof] = dq
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, self._bias)
        compensation, spring = (self._live[name][self._dof] for name in _PASSIVE)
        effort: np.ndarray = (
            self._bias[self._dof] - compensation - spring + self._damping[self._dof] * dq
        )
        return effort

    def inertial(self, ddq: np.ndarray) -> np.ndarray:
        """Return the efforts of joint accelerations (k,), after `bias`.  # (k,)"""
        self._located_ddq[self._dof] = ddq
        mujoco.mj_rne(self._model, self._scratch, 1, self._effort)
        effort: np.ndarray = (self._effort - self._bias)[self._dof] + self._armature[
            self._dof
        ] * ddq
        return effort

    def inertia(self) -> np.ndarray:
        """Return the inertia of the joints at the located positions.  # (k, k)"""
        mujoco.mj_makeM(self._model, self._scratch)
        mujoco.mj_fullM(self._model, self._scratch, self._inertia)
        inertia: np.ndarray = self._inertia.take(self._square)
        return inertia


def _product(
    position: np.ndarray, quat: np.ndarray, inner: np.ndarray, inner_quat: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    found, facing = np.empty(3), np.empty(4)
    mujoco.mju_mulPose(found, facing, position, quat, inner, inner_quat)
    return found, facing
