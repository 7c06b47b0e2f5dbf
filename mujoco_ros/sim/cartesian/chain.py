"""Kinematics and dynamics of the joints that move a frame."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.control.cartesian.commands import FixedFrame
from mujoco_ros.control.index_ranges import as_slice

_DISCRETE = int(mujoco.mjtIntegrator.mjINT_DISCRETE)


@dataclass(frozen=True, kw_only=True, eq=False)
class ChainJoints:
    """The joints of a chain, from the base on.

    Attributes:
        names: Their names.
        indices: Their indices among the joints of the robot.  # (k,)
        qpos: Their addresses in qpos.  # (k,)
        dof: Their addresses in qvel.  # (k,)
        lower: Smallest position [rad or m], -inf where unlimited.  # (k,)
        upper: Largest position [rad or m], inf where unlimited.  # (k,)
        max_velocity: Largest speed by the model [rad/s or m/s], inf where it has none.  # (k,)
        max_effort: Largest effort of the actuators [Nm or N], inf where unlimited.  # (k,)
        takes_position: Which take positions.  # (k,) bool
        takes_effort: Which take efforts.  # (k,) bool
        servo_kp: Stiffness of MuJoCo's position servos, 0 for other joints [Nm/rad or N/m].  # (k,)
        servo_kd: Damping of these servos [Nms/rad or Ns/m].  # (k,)
    """

    names: tuple[str, ...]
    indices: np.ndarray
    qpos: np.ndarray
    dof: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    max_velocity: np.ndarray
    max_effort: np.ndarray
    takes_position: np.ndarray
    takes_effort: np.ndarray
    servo_kp: np.ndarray
    servo_kd: np.ndarray


class FrameChain:
    """Kinematics and dynamics of a frame, computed on a copy of the state.

    Poses, velocities and the Jacobian are relative to the base, along its axes, and refer to the
    origin of the frame. The joints outside the chain are where they are measured.

    Attributes:
        frame: The frame.
        base: The root body of the robot that carries it.
        joints: The joints of the chain.
        position: Origin of the frame, as last located [m].  # (3,)
        quat: Its orientation, wxyz.  # (4,)
        jacobian: Of the frame: linear rows, then angular rows.  # (6, k)
        base_moves: Whether the base can move in the world.
        carried: The base, and all bodies that it carries.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        frame: FixedFrame,
        base: FixedFrame,
        joints: ChainJoints,
        kp: np.ndarray,
    ) -> None:
        """Prepare for a frame of a robot.

        Args:
            model: The model.
            data: The live state.
            frame: The frame.
            base: The root body of the robot that carries it.
            joints: The joints that move it.
            kp: Stiffness of the PD law of the joints of the robot, which may change.  # (n,)
        """
        self.frame, self.base, self.joints = frame, base, joints
        self._model, self._live = model, data
        self._scratch: mujoco.MjData | None = None
        count = len(joints.names)
        self.position, self.quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self.jacobian = np.zeros((6, count))
        self.base_moves = bool(model.body_weldid[base.body])
        self.carried = _subtree(model, base.body)
        self._by_axes = self.jacobian.reshape(2, 3, count)
        self._full = np.zeros((6, model.nv))
        self._part = np.zeros((6, count))
        self._part_by_axes = self._part.reshape(2, 3, count)
        self._dof, self._columns = as_slice(joints.dof), as_slice(joints.indices)
        self._kp = kp
        self._qpos = as_slice(joints.qpos)
        self._origin, self._base_quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._to_base, self._from_base = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._turn = np.zeros(9)
        self._point, self._quat = np.zeros(3), np.zeros(4)
        self._effort, self._bias = np.zeros((2, model.nv))
        self._inertia = np.zeros((model.nv, model.nv))
        self._armature = model.dof_armature[joints.dof]
        self._damping = model.dof_damping[joints.dof]

    def prepare(self) -> None:
        """Allocate the copy of the state; in any thread."""
        if self._scratch is None:
            self._scratch = mujoco.MjData(self._model)

    def measure(self, q: np.ndarray, dq: np.ndarray) -> None:
        """Copy the measured positions and velocities of the joints.  # (k,) each."""
        q[:], dq[:] = self._live.qpos[self._qpos], self._live.qvel[self._dof]

    def read(self) -> None:
        """Copy the measured state."""
        self.prepare()
        scratch, live = self._scratch, self._live
        assert scratch is not None
        scratch.qpos[:], scratch.qvel[:] = live.qpos, live.qvel
        if self._model.nmocap:
            scratch.mocap_pos[:], scratch.mocap_quat[:] = live.mocap_pos, live.mocap_quat

    def locate(self, q: np.ndarray) -> None:
        """Compute pose and Jacobian of the frame at joint positions (k,), after `read`."""
        model, data, frame = self._model, self._scratch, self.frame
        assert data is not None
        data.qpos[self._qpos] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        self._locate_base()
        point, body = self._point, frame.body
        mujoco.mju_mulPose(
            point, self._quat, data.xpos[body], data.xquat[body], frame.position, frame.quat_wxyz
        )
        full = self._full
        mujoco.mj_jac(model, data, full[:3], full[3:], point, body)
        mujoco.mju_mulPose(
            self.position, self.quat, self._to_base, self._from_base, point, self._quat
        )
        if isinstance(self._dof, slice):
            self._part[:] = full[:, self._dof]
        else:
            np.take(full, self._dof, axis=1, out=self._part, mode="clip")
        np.matmul(self._turn.reshape(3, 3), self._part_by_axes, out=self._by_axes)

    def _locate_base(self) -> None:
        """Find the base in the world, for `from_world` and `turn_to_base`."""
        data, base = self._scratch, self.base
        assert data is not None
        mujoco.mju_mulPose(
            self._origin,
            self._base_quat,
            data.xpos[base.body],
            data.xquat[base.body],
            base.position,
            base.quat_wxyz,
        )
        mujoco.mju_negPose(self._to_base, self._from_base, self._origin, self._base_quat)
        mujoco.mju_quat2Mat(self._turn, self._from_base)

    def locate_all(self) -> None:
        """Find all frames in the measured state, for `to_world` and `from_world`."""
        self.read()
        assert self._scratch is not None
        mujoco.mj_kinematics(self._model, self._scratch)
        self._locate_base()

    def to_world(
        self, frame: FixedFrame, position: np.ndarray, quat: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a pose that is given in a frame, in the world.  # (3,), (4,)."""
        data = self._scratch
        assert data is not None
        origin, turn = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(
            origin,
            turn,
            data.xpos[frame.body],
            data.xquat[frame.body],
            frame.position,
            frame.quat_wxyz,
        )
        found, facing = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(found, facing, origin, turn, position, quat)
        return found, facing

    def from_world(self, position: np.ndarray, quat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return a pose in the world, in the frame of the base.  # (3,), (4,)."""
        found, facing = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(found, facing, self._to_base, self._from_base, position, quat)
        return found, facing

    def turn_to_base(self, frame: FixedFrame, vector: np.ndarray, out: np.ndarray) -> None:
        """Turn a vector (3,) from the axes of a frame into those of the base."""
        data = self._scratch
        assert data is not None
        mujoco.mju_rotVecQuat(out, vector, frame.quat_wxyz)
        mujoco.mju_rotVecQuat(self._point, out, data.xquat[frame.body])
        mujoco.mju_rotVecQuat(out, self._point, self._from_base)

    @property
    def is_discrete(self) -> bool:
        """Whether servos act on the positions at the end of a step, not at its begin."""
        return bool(self._model.opt.integrator == _DISCRETE)

    def stiffness(self, out: np.ndarray) -> None:
        """Write the present stiffness of the joints' servos to `out` (k,) [Nm/rad or N/m]."""
        np.add(self.joints.servo_kp, self._kp[self._columns], out=out)

    def bias(self, dq: np.ndarray, effort: np.ndarray, *, damped: bool) -> None:
        """Write the joint efforts of a motion without acceleration to `effort`, when located.

        Gravity and Coriolis forces, less what springs and the gravity compensation of the model
        contributed in the last step.

        Args:
            dq: Velocities.  # (k,)
            effort: Efforts [Nm or N].  # (k,)
            damped: Whether to overcome the damping of the joints.
        """
        model, data, live, dof = self._model, self._scratch, self._live, self._dof
        assert data is not None
        data.qvel[dof] = dq
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, self._bias)
        np.subtract(self._bias[dof], live.qfrc_gravcomp[dof], out=effort)
        effort -= live.qfrc_spring[dof]
        if damped:
            effort += self._damping * dq

    def inertial(self, ddq: np.ndarray, effort: np.ndarray) -> None:
        """Write the efforts of accelerations (k,) to `effort` (k,), after `bias`.

        Other joints have none.
        """
        model, data, dof = self._model, self._scratch, self._dof
        assert data is not None
        data.qacc[dof] = ddq
        mujoco.mj_rne(model, data, 1, self._effort)
        np.multiply(self._armature, ddq, out=effort)
        effort += self._effort[dof]
        effort -= self._bias[dof]

    def inertia(self, matrix: np.ndarray) -> None:
        """Write the inertia of the joints at the located positions to `matrix` (k, k)."""
        data = self._scratch
        assert data is not None
        mujoco.mj_makeM(self._model, data)
        mujoco.mj_fullM(self._model, data, self._inertia)
        matrix[:] = self._inertia[np.ix_(self.joints.dof, self.joints.dof)]


def _subtree(model: mujoco.MjModel, root: int) -> frozenset[int]:
    """Return a body and its descendants; of the world, the world alone."""
    found = {root}
    if root:
        for body in range(root + 1, model.nbody):
            if int(model.body_parentid[body]) in found:
                found.add(body)
    return frozenset(found)
