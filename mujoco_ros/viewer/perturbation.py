"""What the mouse does to a body: a push, or a mocap body that is moved."""

import mujoco
import numpy as np

from mujoco_ros.model.layout import Layout
from mujoco_ros.model.places import MocapBody, can_move, mocap_bodies, places
from mujoco_ros.viewer.link import Link, Push


class Handles:
    """What of a model can be taken hold of, and by which names."""

    def __init__(self, model: mujoco.MjModel, layout: Layout) -> None:
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
    """Tells the simulator what the mouse does; the engine makes forces of it as in Studio."""

    def __init__(self, link: Link) -> None:
        """Act through `link`."""
        self._link = link
        self._handles: Handles | None = None
        self._held = ""

    def attach(self, model: mujoco.MjModel, layout: Layout) -> None:
        """Act on another model from now on; what is held is let go."""
        self.let_go()
        self._handles = Handles(model, layout)

    def apply(self, model: mujoco.MjModel, data: mujoco.MjData, perturb: mujoco.MjvPerturb) -> None:
        """Push, move or let go, as the mouse is now.

        Args:
            model: What is shown, with as many bodies as the model that is attached to.
            data: Its forwarded state; the mocap body that is moved is moved in it too.
            perturb: What the mouse has selected, and what it does to it.
        """
        body, handles = perturb.select, self._handles
        if not perturb.active or handles is None:
            self.let_go()
        elif mocap := handles.mocap(body):
            self._move(mocap, model, data, perturb)
        else:
            self._push(handles.frame(body), model, data, perturb)

    def let_go(self) -> None:
        """End the push, if there is one."""
        if self._held:
            self._link.release(self._held)
            self._held = ""

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

    def _push(
        self, frame: str, model: mujoco.MjModel, data: mujoco.MjData, perturb: mujoco.MjvPerturb
    ) -> None:
        if frame != self._held:
            self.let_go()
        if not frame:
            return
        body = perturb.select
        wrench = engine_wrench(model, data, perturb)
        arm = data.xipos[body] - data.xpos[body]
        self._held = frame
        self._link.push(
            Push(
                frame=frame,
                force=wrench[:3],
                torque=wrench[3:] + np.cross(arm, wrench[:3]),
                rotation=data.xmat[body].reshape(3, 3).copy(),
            )
        )


def engine_wrench(
    model: mujoco.MjModel, data: mujoco.MjData, perturb: mujoco.MjvPerturb
) -> np.ndarray:
    """Return the force and torque that the engine makes of a perturbation; `data` stays as it is.

    They act at the selected body's centre of mass, in axes of the world [N, Nm].  # (6,)
    """
    row = data.xfrc_applied[perturb.select]
    before = row.copy()
    row[:] = 0.0
    mujoco.mjv_applyPerturbForce(model, data, perturb)
    wrench: np.ndarray = row.copy()
    row[:] = before
    return wrench
