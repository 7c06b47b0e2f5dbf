"""A thruster, such as a propeller of a drone: a force and a torque at a site."""

from dataclasses import dataclass
from math import exp, isfinite
from typing import Any, ClassVar

import mujoco
import numpy as np
from std_msgs.msg import Float64

from mujoco_ros.extensions.endpoints import publisher, subscription
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting
from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True)
class ThrusterSettings:
    """The settings of a thruster."""

    site: str = setting("thruster", "Site that it pushes along its z axis, at the start")
    largest: float = setting(10.0, "Largest thrust [N]", low=0.0, high=1e6)
    time_constant: float = setting(0.05, "Time constant of the thrust [s]", low=1e-4, high=10.0)
    torque: float = setting(0.0, "Torque about the axis at 1 N [Nm/N]", low=-10.0, high=10.0)


class Thruster(Extension):
    """Follows a command with a first-order lag. State: command and thrust [N]."""

    Settings = ThrusterSettings
    initial_state: ClassVar = {"command": [0.0], "thrust": [0.0]}

    def set_up(self) -> None:
        """Find the site."""
        self._site = self.elements.id("site", self.settings.site)
        self._body, self._all = int(self.model.site_bodyid[self._site]), np.zeros(self.model.nv)

    def before_step(self) -> None:
        """Change the thrust towards the command, within its limit."""
        change = 1.0 - exp(-self.model.opt.timestep / self.settings.time_constant)
        wanted = min(max(self.state["command"][0], 0.0), self.settings.largest)
        self.state["thrust"] += change * (wanted - self.state["thrust"])

    def passive(self, data: Any, force: np.ndarray) -> None:
        """Write force and torque as forces of the degrees of freedom."""
        push = self.state["thrust"] * data.site_xmat[self._site, 2::3]
        point, torque = data.site_xpos[self._site], self.settings.torque * push
        self._all[:] = 0.0
        mujoco.mj_applyFT(self.model, data, push, torque, point, self._body, self._all)
        force[:] = self._all[self.elements.dofs]

    @subscription(Float64, "command")
    def command(self, message: Float64) -> None:
        """Set the thrust to reach [N]."""
        if not isfinite(message.data):
            raise UserInputError(f"the thrust must be a finite number, got {message.data}")
        self.state["command"][0] = message.data

    @publisher(Float64, "thrust")
    def thrust(self) -> Float64:
        """Return the present thrust [N]."""
        return Float64(data=self.state["thrust"][0])
