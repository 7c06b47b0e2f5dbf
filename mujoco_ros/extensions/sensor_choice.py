"""The choice of the sensors of an interface by their names, or by the bodies that they are on.

The order of sensors in a model means nothing: what names and bodies do not decide is an error.
"""

from collections.abc import Sequence
from itertools import pairwise

import mujoco

from mujoco_ros.extensions.own_elements import MountedSensor, OwnElements
from mujoco_ros.model.errors import UserInputError, ambiguous, unknown

NONE = "-"
"""Stands for a sensor that a robot lacks."""
_FEET = 4
_NAME_IMU = "name its site as 'imu'"
_TYPE = mujoco.mjtSensor


def find_imu(elements: OwnElements, name: str, body: int) -> list[slice | None]:
    """Return where in ``sensordata`` an IMU has its orientation, angular velocity, acceleration.

    Args:
        elements: The elements of the robot.
        name: Name of its site or of one of its sensors; empty for the IMU of a body.
        body: The body; without an IMU on it, the only one of the robot is taken.

    Raises:
        UserInputError: There is no such IMU, or there are several.
    """
    weld = elements.model.body_weldid
    kinds = (_TYPE.mjSENS_GYRO, _TYPE.mjSENS_ACCELEROMETER, _TYPE.mjSENS_FRAMEQUAT)
    rates, accelerations, orientations = map(elements.sensors_of_type, kinds)
    every = [*rates, *accelerations] or orientations
    named = [it for it in every if name in (it.name, it.place)]
    if name and not named:
        raise unknown("IMU", name, dict.fromkeys(it.place for it in every))
    part = weld[named[0].body if named else body]
    near = [it for it in every if weld[it.body] == part] or every
    if len({int(weld[it.body]) for it in near}) > 1:
        raise ambiguous("IMU", _listed(elements, near), _NAME_IMU)
    found: list[slice | None] = []
    places = {it.place for it in named}
    for sensors in (rates, accelerations, orientations):
        able = [it for it in sensors if near and weld[it.body] == weld[near[0].body]]
        able = [it for it in able if it.place in places] or able
        if len(able) > 1:
            raise ambiguous("IMU", _listed(elements, able), _NAME_IMU)
        places.update(it.place for it in able)
        found.append(able[0].slots if able else None)
    return [found[2], *found[:2]]


def find_feet(
    elements: OwnElements, names: Sequence[str], legs: Sequence[Sequence[str]]
) -> list[slice | None]:
    """Return where in ``sensordata`` the touch sensors of feet are.

    Args:
        elements: The elements of the robot.
        names: Names of four sensors or of their sites, `NONE` for a foot without one; empty for
            those on the legs.
        legs: Names of the joints of each leg, from the hip to the foot.

    Raises:
        UserInputError: There is no such sensor, or the legs do not decide.
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
    found = [it for it in touches if it.name == name] or [it for it in touches if it.place == name]
    if not found:
        raise unknown("touch sensor", name, [it.name for it in touches])
    if len(found) > 1:
        raise ambiguous(f"foot '{name}'", [it.name for it in found], "use the name of a sensor")
    return found[0].slots


def _foot(
    elements: OwnElements, leg: Sequence[str], touches: Sequence[MountedSensor]
) -> slice | None:
    """Return the touch sensor below the last joint of a leg, or of several the foot's."""
    model = elements.model
    bodies = [int(model.jnt_bodyid[elements.id("joint", joint)]) for joint in leg]
    remedy = f"name the touch sensors of all feet as 'feet', '{NONE}' for none"
    if not all(_carries(model, upper, lower) for upper, lower in pairwise(bodies)):
        what = f"foot of the joints {', '.join(leg)}, which are no leg"
        raise ambiguous(what, _listed(elements, touches), remedy)
    found = [it for it in touches if _carries(model, bodies[-1], it.body)]
    if len(found) > 1:
        found = [it for it in found if "foot" in f"{it.name} {it.place}".lower()] or found
    if len(found) > 1:
        raise ambiguous(f"foot of joint '{leg[-1]}'", _listed(elements, found), remedy)
    return found[0].slots if found else None


def _carries(model: mujoco.MjModel, body: int, other: int) -> bool:
    """Whether a body is another one, or above it."""
    while other > body:
        other = int(model.body_parentid[other])
    return other == body


def _listed(elements: OwnElements, sensors: Sequence[MountedSensor]) -> list[str]:
    body = elements.model.body
    return [
        f"{it.name} on {body(it.body).name.removeprefix(elements.prefix) or it.body}"
        for it in sensors
    ]
