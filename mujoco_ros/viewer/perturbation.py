"""What the mouse does to a body: a pull, or a mocap body that is moved."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.body_frames import MocapBody, can_move, mocap_bodies, places
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.perturbation.pulls import Pull
from mujoco_ros.viewer.link import SimulatorLink

_ROTATE = int(mujoco.mjtPertBit.mjPERT_ROTATE)


class Handles:
    """What of a model can be taken hold of, and by which names."""

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout) -> None:
        """Name the bodies of a model as ROS does."""
        self._model = model
        self._mocap = {mocap.body: mocap for mocap in mocap_bodies(model, layout)}
        self._frames: dict[int, str] = {}
        for place in places(model, layout).values():
            if not place.position.any() and tuple(place.quat_wxyz) == (1.0, 0.0, 0.0, 0.0):
                self._frames.setdefault(place.body, place.frame)

    def frame(self, body: int) -> str:
        """Return the frame of a body; empty if forces cannot move it, or it has no name."""
        return self._frames.get(body, "") if can_move(self._model, body) else ""

    def mocap(self, body: int) -> MocapBody | None:
        """Return `body` if it is a mocap body."""
        return self._mocap.get(body)


class Perturbation:
    """Tells the simulator where the mouse wants a body; what forces that takes, it knows itself."""

    def __init__(self, link: SimulatorLink) -> None:
        """Act through `link`."""
        self._link = link
        self._handles: Handles | None = None
        self._holds = False

    def attach(self, model: mujoco.MjModel, layout: ModelLayout) -> None:
        """Act on another model from now on; what is held is let go."""
        self.let_go()
        self._handles = Handles(model, layout)

    def apply(self, model: mujoco.MjModel, data: mujoco.MjData, perturb: mujoco.MjvPerturb) -> None:
        """Pull, move or let go, as the mouse is now.

        Args:
            model: What is shown, with as many bodies as the model that is attached to.
            data: Its state; the mocap body that is moved is moved in it too.
            perturb: What the mouse has selected, and what it does to it.
        """
        body, handles = perturb.select, self._handles
        if not perturb.active or handles is None:
            self.let_go()
        elif mocap := handles.mocap(body):
            self._move(mocap, model, data, perturb)
        else:
            self._pull(handles.frame(body), model, perturb)

    def let_go(self) -> None:
        """End the pull, if there is one."""
        if self._holds:
            self._link.let_go()
            self._holds = False

    def _move(
        self,
        mocap: MocapBody,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        perturb: mujoco.MjvPerturb,
    ) -> None:
        self.let_go()
        mujoco.mjv_applyPerturbPose(model, data, perturb, 0)
        position, quat = data.mocap_pos[mocap.mocap], data.mocap_quat[mocap.mocap]
        self._link.move_mocap(mocap.namespace, mocap.name, position.copy(), quat.copy())

    def _pull(self, frame: str, model: mujoco.MjModel, perturb: mujoco.MjvPerturb) -> None:
        if not frame:
            self.let_go()
            return
        # The engine turns the axes of inertia.
        back, quat = np.zeros((2, 4))
        mujoco.mju_negQuat(back, model.body_iquat[perturb.select])
        mujoco.mju_mulQuat(quat, perturb.refquat, back)
        self._holds = True
        self._link.pull(
            frame,
            Pull(
                turns=bool(perturb.active & _ROTATE),
                point=perturb.localpos.copy(),
                position=perturb.refselpos.copy(),
                quat_wxyz=quat,
            ),
        )
