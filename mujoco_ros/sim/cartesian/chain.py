"""Kinematics and dynamics of the joints that move a frame."""

from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import FixedFrame
from mujoco_ros.control.references import ArrayPart, as_slice
from mujoco_ros.sim.drives import Drives

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
        drives: Drives,
        columns: np.ndarray,
    ) -> None:
        """Prepare for a frame of a robot.

        Args:
            model: The model.
            data: The live state.
            frame: The frame.
            base: The root body of the robot that carries it.
            joints: The joints that move it.
            drives: The actuators of all joints.
            columns: The joints that move it, among all joints.  # (k,)
        """
        self.frame, self.base, self.joints = frame, base, joints
        self._model, self._live = model, data
        self._drives, self._columns = drives, columns
        count = len(joints.names)
        self.position, self.quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self.jacobian = np.zeros((6, count))
        self.base_moves = bool(model.body_weldid[base.body])
        self.carried = _subtree(model, base.body)
        self._by_axes = self.jacobian.reshape(2, 3, count)
        self._full = np.zeros((6, model.nv))
        self._linear, self._angular = self._full[:3], self._full[3:]
        self._part = np.zeros((6, count))
        self._part_by_axes = self._part.reshape(2, 3, count)
        self._dof = as_slice(joints.dof)
        self._full_part = self._full[:, self._dof] if isinstance(self._dof, slice) else None
        self._kp, self._k = ArrayPart(drives.kp, columns), np.zeros(count)
        self._origin, self._base_quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._to_base, self._from_base = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._turn = np.zeros(9)
        self._turn_matrix = self._turn.reshape(3, 3)
        self._point, self._quat = np.zeros(3), np.zeros(4)
        self._drift, self._vector = np.zeros(6), np.zeros(3)
        self._effort, self._bias = np.zeros((2, model.nv))
        self._effort_part = ArrayPart(self._effort, joints.dof)
        self._bias_part = ArrayPart(self._bias, joints.dof)
        self._inertia = np.zeros((model.nv, model.nv))
        self._inertia_at = (joints.dof[:, None] * model.nv + joints.dof).ravel()
        self._inertia_part = ArrayPart(self._inertia.reshape(-1), self._inertia_at)
        self._armature = model.dof_armature[joints.dof]
        self._damping = model.dof_damping[joints.dof]
        self._q = ArrayPart(data.qpos, joints.qpos)
        self._dq = ArrayPart(data.qvel, joints.dof)
        self._gravcomp = ArrayPart(data.qfrc_gravcomp, joints.dof)
        self._spring = ArrayPart(data.qfrc_spring, joints.dof)
        self._scratch: mujoco.MjData | None = None

    def prepare(self) -> None:
        """Allocate the copy of the state; in any thread."""
        if self._scratch is not None:
            return
        live, scratch, joints = self._live, mujoco.MjData(self._model), self.joints
        copied = [(scratch.qpos, live.qpos), (scratch.qvel, live.qvel)]
        if self._model.nmocap:
            copied += [(scratch.mocap_pos, live.mocap_pos), (scratch.mocap_quat, live.mocap_quat)]
        # The attributes of MjData are slow to read.
        self._copied = copied
        self._xpos, self._xquat = scratch.xpos, scratch.xquat
        self._located_q = ArrayPart(scratch.qpos, joints.qpos)
        self._located_dq = ArrayPart(scratch.qvel, joints.dof)
        self._located_ddq = ArrayPart(scratch.qacc, joints.dof)
        self._scratch = scratch

    def switch_pd(self, *, on: bool) -> None:
        """Switch the PD law of the joints; see `Drives.switch_pd`."""
        self._drives.switch_pd(self._columns, on=on)

    def measure(self, q: np.ndarray, dq: np.ndarray) -> None:
        """Copy the measured positions and velocities of the joints.  # (k,) each."""
        self._q.read(q)
        self._dq.read(dq)

    def read(self) -> None:
        """Copy the measured state."""
        self.prepare()
        for copy, live in self._copied:
            copy[:] = live

    def locate(self, q: np.ndarray) -> None:
        """Compute pose and Jacobian of the frame at joint positions (k,), after `read`."""
        model, data, frame = self._model, self._scratch, self.frame
        assert data is not None
        self._located_q.write(q)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        self._locate_base()
        point, body = self._point, frame.body
        mujoco.mju_mulPose(
            point, self._quat, self._xpos[body], self._xquat[body], frame.position, frame.quat_wxyz
        )
        mujoco.mj_jac(model, data, self._linear, self._angular, point, body)
        mujoco.mju_mulPose(
            self.position, self.quat, self._to_base, self._from_base, point, self._quat
        )
        self._take_columns()
        np.matmul(self._turn_matrix, self._part_by_axes, out=self._by_axes)

    def _take_columns(self) -> None:
        """Copy the columns of the joints from those of all degrees of freedom."""
        if self._full_part is not None:
            self._part[:] = self._full_part
        else:
            self._full.take(self.joints.dof, axis=1, out=self._part, mode="clip")

    def drift(self, dq: np.ndarray, out: np.ndarray) -> None:
        """Write the acceleration of the frame at constant joint velocities (k,) to `out` (6,).

        After `bias`.
        """
        model, data, frame = self._model, self._scratch, self.frame
        assert data is not None
        mujoco.mj_jacDot(model, data, self._linear, self._angular, self._point, frame.body)
        self._take_columns()
        drift, turn = self._drift, self._from_base
        np.matmul(self._part, dq, out=drift)
        mujoco.mju_rotVecQuat(out[:3], drift[:3], turn)
        mujoco.mju_rotVecQuat(out[3:], drift[3:], turn)

    def _locate_base(self) -> None:
        """Find the base in the world, for `from_world` and `turn_to_base`."""
        base, body = self.base, self.base.body
        position, quat = self._xpos[body], self._xquat[body]
        mujoco.mju_mulPose(
            self._origin, self._base_quat, position, quat, base.position, base.quat_wxyz
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
        origin, turn, body = np.zeros(3), np.zeros(4), frame.body
        mujoco.mju_mulPose(
            origin, turn, self._xpos[body], self._xquat[body], frame.position, frame.quat_wxyz
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
        mujoco.mju_rotVecQuat(out, vector, frame.quat_wxyz)
        mujoco.mju_rotVecQuat(self._vector, out, self._xquat[frame.body])
        mujoco.mju_rotVecQuat(out, self._vector, self._from_base)

    @property
    def is_discrete(self) -> bool:
        """Whether servos act on the positions at the end of a step, not at its begin."""
        return bool(self._model.opt.integrator == _DISCRETE)

    def stiffness(self, out: np.ndarray) -> None:
        """Write the present stiffness of the joints' servos to `out` (k,) [Nm/rad or N/m]."""
        self._kp.read(out)
        out += self.joints.servo_kp

    def bias(self, dq: np.ndarray, effort: np.ndarray) -> None:
        """Write the joint efforts of a motion without acceleration to `effort`, when located.

        Gravity, Coriolis forces and damping, less what springs and the gravity compensation of the
        model contributed in the last step.

        Args:
            dq: Velocities.  # (k,)
            effort: Efforts [Nm or N].  # (k,)
        """
        model, data, part = self._model, self._scratch, self._k
        assert data is not None
        self._located_dq.write(dq)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, 0, self._bias)
        self._bias_part.read(effort)
        for passive in (self._gravcomp, self._spring):
            passive.read(part)
            effort -= part
        np.multiply(self._damping, dq, out=part)
        effort += part

    def inertial(self, ddq: np.ndarray, effort: np.ndarray) -> None:
        """Write the efforts of accelerations (k,) to `effort` (k,), after `bias`.

        Other joints have none.
        """
        model, data, part = self._model, self._scratch, self._k
        assert data is not None
        self._located_ddq.write(ddq)
        mujoco.mj_rne(model, data, 1, self._effort)
        self._effort_part.read(effort)
        self._bias_part.read(part)
        effort -= part
        np.multiply(self._armature, ddq, out=part)
        effort += part

    def inertia(self, matrix: np.ndarray) -> None:
        """Write the inertia of the joints at the located positions to `matrix` (k, k)."""
        data = self._scratch
        assert data is not None
        mujoco.mj_makeM(self._model, data)
        mujoco.mj_fullM(self._model, data, self._inertia)
        self._inertia_part.read(matrix.reshape(-1))


def _subtree(model: mujoco.MjModel, root: int) -> frozenset[int]:
    """Return a body and its descendants; of the world, the world alone."""
    found = {root}
    if root:
        for body in range(root + 1, model.nbody):
            if int(model.body_parentid[body]) in found:
                found.add(body)
    return frozenset(found)
