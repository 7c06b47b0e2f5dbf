"""Poses and Jacobians of links of a robot, at joint positions that need not be the present ones."""

from collections.abc import Callable, Sequence

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.cartesian.frame_chains import WORLD, FrameChains, at_body


class LinkKinematics:
    """Kinematics of frames by named joints, in the axes of a base; other joints as measured."""

    def __init__(
        self,
        chains: Callable[[], FrameChains],
        joints: Sequence[str],
        base: str,
        frames: Sequence[str],
    ) -> None:
        """Find joints and frames; `chains` returns the chains of the present model.

        Raises:
            UserInputError: There is no such joint or frame.
        """
        self._chains, self._joints, self._names = chains, joints, (base, *frames)
        self._bind(chains())

    def _bind(self, chains: FrameChains) -> None:
        model, robot = chains.model, chains.robot.joints
        self._found, self._model = chains, model
        missing = [joint for joint in self._joints if joint not in robot.names]
        if missing:
            raise UserInputError(f"the robot has no joint '{missing[0]}'")
        at = [robot.names.index(joint) for joint in self._joints]
        self._qpos, self._dof = robot.qpos[at], robot.dof[at]
        origin = at_body(WORLD, 0)
        # Bodies of the frames, and their poses in these
        self._frames: dict[str, tuple[int, np.ndarray, np.ndarray]] = {}
        for name in self._names:
            frame, turn = chains.resolve(name, origin), np.empty(9)
            mujoco.mju_quat2Mat(turn, frame.quat_wxyz)
            self._frames[name] = frame.body, frame.position, turn.reshape(3, 3)
        self._is_fixed = not model.body_weldid[self._frames[self._names[0]][0]]
        self._data = mujoco.MjData(model)
        self._rows = np.zeros((6, model.nv))

    def locate(self, q: np.ndarray) -> None:
        """Compute all poses at joint positions [rad or m].  # (k,)"""
        chains = self._chains()
        if chains is not self._found:
            self._bind(chains)
        for name in ("qpos", "mocap_pos", "mocap_quat"):
            getattr(self._data, name)[:] = getattr(chains.data, name)
        self._data.qpos[self._qpos] = q
        mujoco.mj_kinematics(self._model, self._data)
        self._poses: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # as `pose` returned them
        self._origin, self._turn = self._in_world(self._names[0])

    def _in_world(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        body, position, own = self._frames[name]
        turn = self._data.xmat[body].reshape(3, 3)
        return self._data.xpos[body] + turn @ position, turn @ own

    def pose(self, frame: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position [m] and rotation of a frame in the base.  # (3,), (3, 3)"""
        if frame not in self._poses:
            position, turn = self._in_world(frame)
            self._poses[frame] = self._turn.T @ (position - self._origin), self._turn.T @ turn
        return self._poses[frame]

    def jacobian(self, frame: str) -> np.ndarray:
        """Return the Jacobian of a frame: linear, then angular rows.  # (6, k)"""
        point, base = self._in_world(frame)[0], self._frames[self._names[0]][0]
        mujoco.mj_comPos(self._model, self._data)
        moved = self._jacobian(point, self._frames[frame][0])
        if not self._is_fixed:
            # Relative to the point of the base that is at the frame's origin now
            moved -= self._jacobian(point, base)
        turned: np.ndarray = self._turn.T @ moved.reshape(2, 3, -1)
        return turned.reshape(moved.shape)

    def _jacobian(self, point: np.ndarray, body: int) -> np.ndarray:
        """Return the Jacobian of a point of a body in the world.  # (6, k)"""
        mujoco.mj_jac(self._model, self._data, self._rows[:3], self._rows[3:], point, body)
        return self._rows[:, self._dof]
