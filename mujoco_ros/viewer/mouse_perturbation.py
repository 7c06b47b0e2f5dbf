"""Bodies dragged with the mouse: a pull, or a new pose of a mocap or paused free body."""

from collections.abc import Iterator

import mujoco
import numpy as np

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.robot.body_frames import MocapBody, can_move, mocap_bodies, named_frames
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.viewer.clients import CommandClient

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_ROTATE = int(mujoco.mjtPertBit.mjPERT_ROTATE)


class MousePerturbation:
    """Sends pulls and poses to the simulator, which computes the forces."""

    def __init__(self, commands: CommandClient) -> None:
        self._commands = commands
        self._mocap: dict[int, MocapBody] = {}
        self._frames: dict[int, str] = {}
        self._free: dict[int, tuple[str, int]] = {}
        self._is_pulling = False

    def attach(self, model: mujoco.MjModel, layout: ModelLayout) -> None:
        """End the pull and act on another model."""
        self.release()
        self._mocap = {mocap.body: mocap for mocap in mocap_bodies(model, layout)}
        self._frames = {}
        for place in named_frames(model, layout).values():
            is_body = not place.position.any() and tuple(place.quat_wxyz) == (1.0, 0.0, 0.0, 0.0)
            if is_body and can_move(model, place.body):
                self._frames.setdefault(place.body, place.frame)
        self._free = dict(self._free_roots(model))

    def apply(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        perturb: mujoco.MjvPerturb,
        *,
        paused: bool = False,
    ) -> None:
        """Pull, move or release the selected body; a body that moves does so in `data` too.

        The displayed `model` has as many bodies as the attached one. Free bodies, and robots with a
        floating base, move while the simulation is `paused`; no force would.
        """
        if perturb.active and (mocap := self._mocap.get(perturb.select)):
            self.release()
            mujoco.mjv_applyPerturbPose(model, data, perturb, 0)
            position, quat = data.mocap_pos[mocap.mocap], data.mocap_quat[mocap.mocap]
            self._commands.move_mocap(mocap.namespace, mocap.name, position.copy(), quat.copy())
        elif perturb.active and paused and (free := self._free.get(perturb.select)):
            self.release()
            mujoco.mjv_applyPerturbPose(model, data, perturb, 1)
            root, q = free
            self._commands.set_pose(root, data.qpos[q : q + 3], data.qpos[q + 3 : q + 7])
        elif perturb.active and (frame := self._frames.get(perturb.select)):
            self._pull(frame, model, perturb)
        else:
            self.release()

    def release(self) -> None:
        """End the pull."""
        if self._is_pulling:
            self._commands.release()
            self._is_pulling = False

    def _free_roots(self, model: mujoco.MjModel) -> Iterator[tuple[int, tuple[str, int]]]:
        """Yield each body below a free joint, with the frame and the qpos address of the root."""
        for body in range(1, model.nbody):
            root = int(model.body_rootid[body])
            joint = int(model.body_jntadr[root])
            if joint >= 0 and model.jnt_type[joint] == _FREE and root in self._frames:
                yield body, (self._frames[root], int(model.jnt_qposadr[joint]))

    def _pull(self, frame: str, model: mujoco.MjModel, perturb: mujoco.MjvPerturb) -> None:
        # MuJoCo's perturbation turns the inertial frame; the pull turns the body frame.
        inverse, quat = np.zeros((2, 4))
        mujoco.mju_negQuat(inverse, model.body_iquat[perturb.select])
        mujoco.mju_mulQuat(quat, perturb.refquat, inverse)
        self._is_pulling = True
        self._commands.pull(
            frame,
            Pull(
                turns=bool(perturb.active & _ROTATE),
                point=perturb.localpos.copy(),
                position=perturb.refselpos.copy(),
                quat_wxyz=quat,
            ),
        )
