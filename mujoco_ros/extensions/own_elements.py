"""The elements that an extension acts on, and the sensors that it chooses by name.

The order of sensors in a model means nothing: what names and bodies do not decide is an error.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import carriers
from mujoco_ros.model.errors import UserInputError, ambiguous, unknown
from mujoco_ros.model.robot.actuators import joint_of
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.robot.scope import NAMED_ELEMENTS, Scope, body_of
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.plant import Plant

_KINDS = {kind: row for kind, row in NAMED_ELEMENTS.items() if kind != "material"}
_USER = {
    "act_dyn": ("actuator_dyntype", mujoco.mjtDyn.mjDYN_USER),
    "act_gain": ("actuator_gaintype", mujoco.mjtGain.mjGAIN_USER),
    "act_bias": ("actuator_biastype", mujoco.mjtBias.mjBIAS_USER),
}
"""Array with the types of actuators, and the type whose law is a hook, by kind of hook."""


class MountedSensor(NamedTuple):
    """A MuJoCo sensor of a robot."""

    name: str  # its name, without the prefix of the robot
    place: str  # name of its site or other object, likewise
    body: int  # body that this is on
    slots: slice  # its numbers in ``sensordata``


class OwnElements:
    """The elements of a robot, or of the whole scene."""

    def __init__(self, plant: Plant, robot: RobotLayout | None) -> None:
        """Find the elements of a robot of a plant, or all of them."""
        self.model: mujoco.MjModel = plant.model  # the model
        # The actuators of all joints, with the force limits of all actuators
        self.drives: Drives = plant.drives
        self.robot = robot  # the robot; None for the scene
        self.prefix = "" if robot is None else robot.prefix  # prefix of its names in the model
        others = {part.prefix for part in plant.assembly.parts} - {self.prefix, ""}
        self._scope = Scope(self.model, self.prefix, () if robot is None else tuple(others))

    def id(self, kind: str, name: str) -> int:
        """Return the MuJoCo id of an element.

        Args:
            kind: ``body``, ``joint``, ``geom``, ``site``, ``actuator``, ``sensor``, …
            name: Its name, without the prefix of the robot.

        Raises:
            UserInputError: There is no such element; the message lists those that there are.
        """
        if kind not in _KINDS:
            raise unknown("kind of element", kind, _KINDS)
        found = mujoco.mj_name2id(self.model, _KINDS[kind][0], self.prefix + name)
        if found < 0 or not self._scope.includes(self.prefix + name):
            where = "the scene" if self.robot is None else f"robot '{self.robot.name}'"
            raise unknown(kind, name, self.names(kind), where=where)
        return int(found)

    def names(self, kind: str) -> list[str]:
        """Return the names of the elements of a kind, without the prefix of the robot."""
        number, count = _KINDS[kind]
        named = (
            mujoco.mj_id2name(self.model, number, element)
            for element in range(getattr(self.model, count))
        )
        return [self._scope.short(name) for name in named if name and self._scope.includes(name)]

    @cached_property
    def bodies(self) -> np.ndarray:
        """The ids of the bodies.  # (n,)"""
        return np.array(self._scope.bodies, dtype=np.intp)

    @cached_property
    def dofs(self) -> np.ndarray:
        """The degrees of freedom.  # (n,)"""
        return np.flatnonzero(np.isin(self.model.dof_bodyid, self.bodies))

    @cached_property
    def geoms(self) -> dict[int, str]:
        """The names of the geoms by MuJoCo id; those without a name have their id."""
        found = np.flatnonzero(np.isin(self.model.geom_bodyid, self.bodies))
        named = {int(geom): self.model.geom(int(geom)).name for geom in found}
        return {
            geom: self._scope.short(name) if name else str(geom) for geom, name in named.items()
        }

    def passive_slots(self) -> tuple[np.ndarray, list[str]]:
        """Return the indices in ``qfrc_passive`` (n,), and the name of the joint of each."""
        joints = (self.model.joint(int(self.model.dof_jntid[dof])).name for dof in self.dofs)
        return self.dofs, [f"joint '{self._scope.short(name)}'" for name in joints]

    def control_slots(self) -> tuple[np.ndarray, list[str]]:
        """Return the indices in ``ctrl`` (n,), and the name of the actuator of each."""
        first, count = self.model.actuator_ctrladr, self.model.actuator_ctrlnum
        names = {actuator: f"actuator '{name}'" for actuator, name in self.actuators.items()}
        return _slots(names, first, count)

    def sensor_slots(self, stage: int) -> tuple[np.ndarray, list[str]]:
        """Return indices in ``sensordata`` (n,) and sensors of type ``user``, of an `mjtStage`."""
        model = self.model
        names = {
            sensor: self._scope.short(model.sensor(sensor).name)
            for sensor in self._scope.sensors
            if model.sensor_type[sensor] == mujoco.mjtSensor.mjSENS_USER
            and model.sensor_needstage[sensor] == stage
        }
        return _slots(names, model.sensor_adr, model.sensor_dim)

    def sensors_of_type(self, kind: mujoco.mjtSensor) -> list[MountedSensor]:
        """Return the sensors of a type, except those relative to another element."""
        model, scope = self.model, self._scope
        first, width = model.sensor_adr, model.sensor_dim
        found = []
        for number in scope.sensors:
            if model.sensor_type[number] == kind and model.sensor_refid[number] < 0:
                place = int(model.sensor_objtype[number]), int(model.sensor_objid[number])
                sensor = MountedSensor(
                    name=scope.short(model.sensor(number).name) or f"sensor {number}",
                    place=scope.name(*place),
                    body=body_of(model, *place),
                    slots=slice(int(first[number]), int(first[number] + width[number])),
                )
                found.append(sensor)
        return found

    def user_actuators(self, kind: str) -> dict[int, str]:
        """Return the names of ``user`` actuators of a kind, such as ``act_dyn``, by MuJoCo id."""
        array, user = _USER[kind]
        types = getattr(self.model, array)
        return {
            actuator: name for actuator, name in self.actuators.items() if types[actuator] == user
        }

    @cached_property
    def actuators(self) -> dict[int, str]:
        """The names of the actuators by MuJoCo id; those without a name belong to their joints."""
        model, found = self.model, {}
        for actuator in range(model.nactuator):
            name, joint = model.actuator(actuator).name, joint_of(model, actuator)
            body = -1 if joint is None else int(model.jnt_bodyid[joint])
            if self._scope.includes(name) if name else body in self.bodies:
                found[actuator] = self._scope.short(name)
        return found


def _slots(
    names: Mapping[int, str], first: np.ndarray, count: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Return the indices (n,) of elements in an array, and the name of the element of each."""
    slots = [np.arange(first[each], first[each] + count[each]) for each in names]
    every = [name for each, name in names.items() for _ in range(int(count[each]))]
    return np.concatenate([np.empty(0, dtype=np.intp), *slots]), every


NONE = "-"
"""Stands for a sensor that a robot lacks."""
_FEET = 4
_NAME_IMU = "name its site as 'imu'"
_TYPE = mujoco.mjtSensor


def find_imu(elements: OwnElements, name: str, body: int) -> list[slice | None]:
    """Return where in ``sensordata`` an IMU has its orientation, angular velocity, acceleration.

    `name` is the name of its site or of one of its sensors. If it is empty, the IMU of a body is
    taken, or else the only one of the robot.
    """
    weld = elements.model.body_weldid
    kinds = (_TYPE.mjSENS_GYRO, _TYPE.mjSENS_ACCELEROMETER, _TYPE.mjSENS_FRAMEQUAT)
    rates, accelerations, orientations = map(elements.sensors_of_type, kinds)
    every = [*rates, *accelerations] or orientations
    named = [sensor for sensor in every if name in (sensor.name, sensor.place)]
    if name and not named:
        raise unknown("IMU", name, dict.fromkeys(sensor.place for sensor in every))
    part = weld[named[0].body if named else body]
    near = [sensor for sensor in every if weld[sensor.body] == part] or every
    if len({int(weld[sensor.body]) for sensor in near}) > 1:
        raise ambiguous("IMU", _listed(elements, near), _NAME_IMU)
    found: list[slice | None] = []
    places = {sensor.place for sensor in named}
    for sensors in (rates, accelerations, orientations):
        able = [sensor for sensor in sensors if near and weld[sensor.body] == weld[near[0].body]]
        able = [sensor for sensor in able if sensor.place in places] or able
        if len(able) > 1:
            raise ambiguous("IMU", _listed(elements, able), _NAME_IMU)
        places.update(sensor.place for sensor in able)
        found.append(able[0].slots if able else None)
    return [found[2], *found[:2]]


def find_feet(
    elements: OwnElements, names: Sequence[str], legs: Sequence[Sequence[str]]
) -> list[slice | None]:
    """Return where in ``sensordata`` the touch sensors of feet are.

    `names` are four sensors or their sites, `NONE` for a foot without one; empty for the sensors on
    the `legs`, whose joints are named from the hip to the foot.
    """
    touches = elements.sensors_of_type(mujoco.mjtSensor.mjSENS_TOUCH)
    if not names:
        return [_foot(elements, leg, touches) for leg in legs] if touches else [None] * len(legs)
    if len(names) != _FEET:
        raise UserInputError(f"{_FEET} feet need as many names, got '{' '.join(names)}'")
    return [_named(touches, name) for name in names]


def _named(touches: Sequence[MountedSensor], name: str) -> slice | None:
    if name == NONE:
        return None
    found = [touch for touch in touches if touch.name == name]
    found = found or [touch for touch in touches if touch.place == name]
    if not found:
        raise unknown("touch sensor", name, [touch.name for touch in touches])
    if len(found) > 1:
        choices = [touch.name for touch in found]
        raise ambiguous(f"foot '{name}'", choices, "use the name of a sensor")
    return found[0].slots


def _foot(
    elements: OwnElements, leg: Sequence[str], touches: Sequence[MountedSensor]
) -> slice | None:
    """Return the touch sensor below the last joint of a leg, or of several the foot's."""
    model = elements.model
    bodies = [int(model.jnt_bodyid[elements.id("joint", joint)]) for joint in leg]
    remedy = f"name the touch sensors of all feet as 'feet', '{NONE}' for none"
    if not all(upper in carriers(model, lower) for upper, lower in pairwise(bodies)):
        what = f"foot of the joints {', '.join(leg)}, which are no leg"
        raise ambiguous(what, _listed(elements, touches), remedy)
    found = [touch for touch in touches if bodies[-1] in carriers(model, touch.body)]
    if len(found) > 1:
        found = [
            touch for touch in found if "foot" in f"{touch.name} {touch.place}".lower()
        ] or found
    if len(found) > 1:
        raise ambiguous(f"foot of joint '{leg[-1]}'", _listed(elements, found), remedy)
    return found[0].slots if found else None


def _listed(elements: OwnElements, sensors: Sequence[MountedSensor]) -> list[str]:
    body = elements.model.body
    return [
        f"{sensor.name} on {body(sensor.body).name.removeprefix(elements.prefix) or sensor.body}"
        for sensor in sensors
    ]
