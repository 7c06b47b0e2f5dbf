"""What touches: contact groups, a conveyor belt, a suction cup, and the quality of a grasp."""

from dataclasses import dataclass
from typing import Any, ClassVar
from zlib import crc32

import mujoco
import numpy as np
from std_msgs.msg import Float64
from std_srvs.srv import SetBool, Trigger

from mujoco_ros.extensions.endpoints import publisher, service
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.panel_items import Button, DisplayedPlot, DisplayedValue, SettingField
from mujoco_ros.sim.grasp_quality import HoldingContacts, holding_contacts


@dataclass(frozen=True)
class ContactGroupsSettings:
    """The settings of the filter."""

    group: int = setting(1, "Group of geoms of the robot", low=0, high=5)
    other: int = setting(1, "Group that they have no contact with, -1 for all", low=-1, high=5)


class ContactGroups(Extension):
    """Discards contacts between own geoms of one group and any geoms of another one."""

    Settings = ContactGroupsSettings

    def set_up(self) -> None:
        """Find the groups of the geoms."""
        self._group = [int(group) for group in self.model.geom_group]

    def contact_filter(self, data: Any, geom1: int, geom2: int) -> bool:
        """Return whether one geom is an own one of `group`, and the other one of `other`."""
        return self._parts(geom1, geom2) or self._parts(geom2, geom1)

    def _parts(self, geom: int, other: int) -> bool:
        if geom not in self.elements.geoms or self._group[geom] != self.settings.group:
            return False
        return self.settings.other in (-1, self._group[other])


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
        self.model.eq_data[self._weld, 11] = 0.0  # else mj_setConst computes the pose
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


@dataclass(frozen=True)
class GraspQualitySettings:
    """The settings of the quality of a grasp."""

    object: str = setting("box", "Object that the robot holds")


class GraspQuality(Extension):
    """Publishes how far the contacts of a robot with an object are from slipping."""

    Settings = GraspQualitySettings
    panel = (
        SettingField("object", "object"),
        DisplayedValue("margin of friction", "margin"),
        DisplayedPlot("Margin of friction", "margins", ("margin",), ""),
    )
    settings: GraspQualitySettings

    def set_up(self) -> None:
        """Find the object."""
        roots = np.flatnonzero(self.model.body_parentid == 0)[1:].tolist()
        names = {self.model.body(body).name.partition("/")[0]: body for body in roots}
        if self.settings.object not in names:
            raise unknown("robot or object", self.settings.object, names)
        self._body = names[self.settings.object]
        self._holders = frozenset(self.elements.bodies.tolist()) - {self._body}

    settings_changed = set_up

    def _contacts(self) -> HoldingContacts:
        return holding_contacts(self.model, self.data, self._body, self._holders)

    def margin(self) -> float:
        """Return the margin of friction, NaN without a contact."""
        return self._contacts().margin

    def margins(self) -> np.ndarray:
        """Return the margin of friction.  # (1,)"""
        return np.array([self.margin()])

    @publisher(Float64, "margin")
    def published_margin(self) -> Float64:
        """Return the margin of friction."""
        return Float64(data=self.margin())

    @service(Trigger, "closure")
    def closure(self, _request: Trigger.Request, response: Trigger.Response) -> None:
        """Tell whether the present contacts are a force closure, or even a form closure."""
        contacts = self._contacts()
        force, form = contacts.force_closure(), contacts.form_closure()
        response.success = force > 0.0
        response.message = f"{len(contacts.points)} contacts: " + (
            f"force closure {force:.3f}" if force else "no force closure"
        )
        response.message += f", form closure {form:.3f}" if form else ", no form closure"
