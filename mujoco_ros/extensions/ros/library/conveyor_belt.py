"""A conveyor belt: a geom on a slide joint that moves what lies on it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from std_msgs.msg import Float64
from std_srvs.srv import SetBool

from mujoco_ros.extensions.endpoints import publisher, service
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting
from mujoco_ros.model.panel_items import Button, DisplayedPlot, DisplayedValue, SettingField


@dataclass(frozen=True)
class BeltSettings:
    """The settings of a belt."""

    joint: str = setting("belt", "Slide joint of the belt, at the start")
    speed: float = setting(0.2, "Speed along the axis of the joint [m/s]", low=-10.0, high=10.0)
    acceleration: float = setting(1.0, "Acceleration to the speed [m/s²]", low=1e-3, high=1e3)


class ConveyorBelt(Extension):
    """Moves a belt that stays in place: it has a velocity, and its position is set back.

    State: the present speed [m/s], the distance travelled [m], and whether it runs.
    """

    Settings = BeltSettings
    panel = (
        SettingField("speed [m/s]", "speed"),
        Button("Start", "start"),
        Button("Stop", "stop"),
        DisplayedValue("present speed", "present_speed", "m/s"),
        DisplayedPlot("Distance", "travelled", ("distance",), "m"),
    )
    initial_state: ClassVar = {"speed": [0.0], "distance": [0.0], "runs": [1.0]}
    settings: BeltSettings

    def set_up(self) -> None:
        """Find the joint."""
        joint = self.elements.id("joint", self.settings.joint)
        self._qpos = int(self.model.jnt_qposadr[joint])
        self._dof = int(self.model.jnt_dofadr[joint])

    def before_step(self) -> None:
        """Set the velocity of the belt, and its position back."""
        speed, timestep = self.state["speed"], self.model.opt.timestep
        wanted = self.settings.speed * self.state["runs"][0]
        most = self.settings.acceleration * timestep
        speed[0] += min(max(wanted - speed[0], -most), most)
        self.state["distance"][0] += speed[0] * timestep
        self.data.qvel[self._dof] = speed[0]
        self.data.qpos[self._qpos] = self.model.qpos0[self._qpos]

    def release(self) -> None:
        """Stop the belt, which nothing holds in place any more."""
        self.state["speed"][0] = self.data.qvel[self._dof] = 0.0

    def start(self) -> None:
        """Start the belt."""
        self.state["runs"][0] = 1.0

    def stop(self) -> None:
        """Stop the belt."""
        self.state["runs"][0] = 0.0

    def present_speed(self) -> float:
        """Return the present speed [m/s]."""
        return float(self.state["speed"][0])

    def travelled(self) -> np.ndarray:
        """Return the distance travelled [m].  # (1,)"""
        return self.state["distance"]

    @service(SetBool, "run")
    def run(self, request: SetBool.Request, response: SetBool.Response) -> None:
        """Start or stop the belt."""
        self.state["runs"][0] = request.data
        response.success, response.message = True, "running" if request.data else "stopped"

    @publisher(Float64, "distance")
    def distance(self) -> Float64:
        """Return the distance travelled [m]."""
        return Float64(data=self.state["distance"][0])
