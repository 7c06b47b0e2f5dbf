"""A suction cup: a weld to the body that touches it, until it is released or pulled off."""

from dataclasses import dataclass
from typing import ClassVar
from zlib import crc32

import mujoco
import numpy as np
from std_srvs.srv import SetBool

from mujoco_ros.extensions.endpoints import service
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting


@dataclass(frozen=True)
class SuctionSettings:
    """The settings of a suction cup."""

    weld: str = setting("suction", "Weld of the cup, body1, to the world, at the start")
    break_force: float = setting(50.0, "Force that pulls a body off [N]", low=0.0, high=1e5)


class SuctionCup(Extension):
    """Holds a body; `held` is a checksum of its name, since ids change with the model."""

    Settings = SuctionSettings
    initial_state: ClassVar = {"vacuum": [0.0], "held": [0.0], "pose": [0.0] * 7}

    def set_up(self) -> None:
        """Find the weld, and all bodies."""
        self._weld = self.elements.id("equality", self.settings.weld)
        self._cup = int(self.model.eq_obj1id[self._weld])
        names = [self.model.body(body).name for body in range(self.model.nbody)]
        self._checksums = [crc32(name.encode()) for name in names]

    def reset(self) -> None:
        """Set the weld to the state."""
        held = self.state["held"][0]
        body = self._checksums.index(held) if held in self._checksums else 0
        self.model.eq_obj2id[self._weld], self.data.eq_active[self._weld] = body, body > 0
        self.model.eq_data[self._weld, 3:10] = self.state["pose"]

    def release(self) -> None:
        """Release the body."""
        self.state["held"][0] = 0.0
        self.reset()

    def before_step(self) -> None:
        """Hold the first movable body that touches the cup, of several the closest one."""
        if self.state["vacuum"][0] and not self.state["held"][0] and self.data.ncon:
            bodies, cup = self.model.geom_bodyid[self.data.contact.geom], self._cup
            other = np.where(bodies[:, 0] == cup, bodies[:, 1], bodies[:, 0])
            near = (bodies == cup).any(axis=1) & (self.model.body_weldid[other] > 0)
            near &= other != cup
            if near.any():
                self._hold(int(other[near][self.data.contact.dist[near].argmin()]))

    def _hold(self, body: int) -> None:
        data, cup, pose, back = self.data, self._cup, self.state["pose"], np.zeros(4)
        mujoco.mju_negQuat(back, data.xquat[cup])
        mujoco.mju_rotVecQuat(pose[:3], data.xpos[body] - data.xpos[cup], back)
        mujoco.mju_mulQuat(pose[3:], back, data.xquat[body])
        self.state["held"][0] = self._checksums[body]
        self.reset()

    def after_step(self) -> None:
        """Release a body that is pulled with more than the break force."""
        rows = self.data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        force = self.data.efc_force[rows & (self.data.efc_id == self._weld)][:3]
        if np.linalg.norm(force) > self.settings.break_force:
            self.release()

    @service(SetBool, "grip")
    def grip(self, request: SetBool.Request, response: SetBool.Response) -> None:
        """Switch the vacuum on, or off, which releases the body."""
        self.state["vacuum"][0], self.state["held"][0] = request.data, 0.0
        self.reset()
        response.success, response.message = True, "on" if request.data else "off"
