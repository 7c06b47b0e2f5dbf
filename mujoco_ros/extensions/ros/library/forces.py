"""Forces on bodies: the drag of the air in wind with gusts, and thrusters such as propellers."""

import math
from dataclasses import dataclass
from math import exp, isfinite
from typing import Any, ClassVar

import mujoco
import numpy as np
from geometry_msgs.msg import Vector3
from std_msgs.msg import Float64

from mujoco_ros.extensions.endpoints import publisher, subscription
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting
from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True)
class WindSettings:
    """The settings of the wind."""

    body: str = setting("base", "Body that the air acts on, at the start")
    velocity: tuple[float, ...] = setting((0.0, 0.0, 0.0), "Mean wind [m/s]", low=-1e2, high=1e2)
    gusts: float = setting(0.0, "Standard deviation of gusts [m/s]", low=0.0, high=50.0)
    gust_time: float = setting(1.0, "Correlation time of gusts [s]", low=1e-3, high=1e3)
    density: float = setting(1.2, "Density of the air [kg/m³]", low=0.0, high=1e4)
    drag_area: float = setting(0.01, "Drag coefficient times area [m²]", low=0.0, high=1e3)


class Wind(Extension):
    """Adds the drag ½·ρ·c·A·|v|·v of the air that flows past a body at v; gusts are a state."""

    Settings = WindSettings
    initial_state: ClassVar = {"gust": [0.0, 0.0, 0.0]}
    settings: WindSettings

    def set_up(self) -> None:
        """Find the body."""
        self._body = self.elements.id("body", self.settings.body)
        self._twist, self._none, self._all = np.zeros(6), np.zeros(3), np.zeros(self.model.nv)

    def before_step(self) -> None:
        """Continue the gusts, an Ornstein-Uhlenbeck process sampled exactly."""
        kept = math.exp(-self.model.opt.timestep / self.settings.gust_time)
        change = self.settings.gusts * math.sqrt(1.0 - kept * kept)
        self.state["gust"][:] = kept * self.state["gust"] + change * self.random.standard_normal(3)

    def passive(self, data: Any, force: np.ndarray) -> None:
        """Write the drag at the centre of mass, as forces of the degrees of freedom."""
        body = self._body
        mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_BODY, body, self._twist, 0)
        flow = self.settings.velocity + self.state["gust"] - self._twist[3:]
        flow *= 0.5 * self.settings.density * self.settings.drag_area * np.linalg.norm(flow)
        self._all[:] = 0.0
        mujoco.mj_applyFT(self.model, data, flow, self._none, data.xipos[body], body, self._all)
        force[:] = self._all[self.elements.dofs]

    @publisher(Vector3, "velocity")
    def velocity(self) -> Vector3:
        """Return the velocity of the air [m/s]."""
        x, y, z = self.settings.velocity + self.state["gust"]
        return Vector3(x=x, y=y, z=z)


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
