"""The sensors of a robot and their TF frames, found in a compiled model."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from os.path import commonprefix

import mujoco
import numpy as np

from mujoco_ros.model.errors import ambiguous
from mujoco_ros.model.naming import site_frame, topic_token
from mujoco_ros.model.robot.scope import Scope, body_of
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind, farthest_distance
from mujoco_ros.model.sensors.sensor_arrays import distance_addresses
from mujoco_ros.model.sensors.sensor_states import sensor_name

_OBJECT = mujoco.mjtObj
_IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class SensorFrame:
    """A TF frame in which a sensor reports."""

    name: str  # its name, without the prefix of the robot's frames
    # Body that it is fixed to; -1 for the frame of a body or of another robot, and for ``world``
    body: int = -1
    # Its origin in the frame of that body [m]
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    # Its orientation in the frame of that body
    quat_wxyz: tuple[float, float, float, float] = _IDENTITY
    # Whether the name is complete, without the prefix of the robot's frames
    is_global: bool = False


WORLD_FRAME = SensorFrame("world", is_global=True)


def object_frame(
    scope: Scope,
    kind: int,
    element: int,
    suffix: str = "",
    turn_wxyz: tuple[float, float, float, float] | None = None,
) -> SensorFrame:
    """Return the frame of a body, site, geom or camera as MuJoCo defines it.

    Bodies and sites have frames with their names. The inertial frame of a body, MuJoCo's object
    type ``body``, has the suffix ``_inertial``; geoms and cameras have ``_geom`` and ``_camera``.
    `suffix` is added to it, and `turn_wxyz` is the orientation of the frame in the element's frame.
    """
    model, body = scope.model, body_of(scope.model, kind, element)
    if body == 0 and kind in (_OBJECT.mjOBJ_BODY, _OBJECT.mjOBJ_XBODY):
        return WORLD_FRAME
    name = _object_name(scope, kind, element)
    if kind == _OBJECT.mjOBJ_SITE:
        name = site_frame(name, scope.body_names)
        position, quat = model.site_pos[element], model.site_quat[element]
    elif kind == _OBJECT.mjOBJ_GEOM:
        name, position, quat = f"{name}_geom", model.geom_pos[element], model.geom_quat[element]
    elif kind == _OBJECT.mjOBJ_CAMERA:
        name, position, quat = f"{name}_camera", model.cam_pos[element], model.cam_quat[element]
        if model.cam_mode[element] != mujoco.mjtCamLight.mjCAMLIGHT_FIXED:
            return SensorFrame(name)  # it turns in the frame of its body, and is not in TF
    elif kind == _OBJECT.mjOBJ_BODY and (
        model.body_ipos[body].any() or model.body_iquat[body].tolist() != list(_IDENTITY)
    ):
        name, position, quat = f"{name}_inertial", model.body_ipos[body], model.body_iquat[body]
    else:
        return SensorFrame(name, is_global=body not in scope.bodies)
    if body and body not in scope.bodies:
        return SensorFrame(name, is_global=True)
    turned = quat.copy()
    if turn_wxyz is not None:
        mujoco.mju_mulQuat(turned, quat, np.array(turn_wxyz))
    return SensorFrame(name + suffix, body, tuple(position.tolist()), tuple(turned.tolist()))


_TYPE = mujoco.mjtSensor
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)
_Place = tuple[int, int, int, int]
"""Type and id of the object of a MuJoCo sensor, and of its reference."""
_Elements = dict[str, int]  # MuJoCo sensors by the name of their measurement


@dataclass(frozen=True, kw_only=True)
class RobotSensor:
    """A sensor of a robot."""

    name: str
    frame: SensorFrame
    site: int  # site of the sensor; -1 if it is at none
    elements: tuple[int, ...]
    # Address in sensordata of each measurement, by name; absent ones are left out
    addresses: Mapping[str, int]
    constants: Mapping[str, float]  # message fields that never change, by path
    stem: str = ""  # how the names of its elements begin, without a last underscore or dash


def find_sensors(
    scope: Scope, kind: SensorKind, used: Collection[int] = ()
) -> tuple[RobotSensor, ...]:
    """Return the sensors of a kind that a robot has.

    The MuJoCo sensors `used` for other kinds can be part of a sensor, but are none alone.
    """
    found: list[RobotSensor] = []
    taken: set[str] = set()
    for place, elements in _grouped(scope, kind):
        if _is_complete(kind, elements, used):
            name = _name(scope, kind, place, elements)
            if kind.is_of_frame or name in taken:
                first = min(elements.values())
                own = scope.short(scope.model.sensor(first).name)
                name = _unused_name((name, own or name), first, taken)
            taken.add(name)
            found.append(_sensor(scope, kind, place, elements, name))
    return tuple(found)


def find_all_sensors(scope: Scope) -> dict[str, tuple[RobotSensor, ...]]:
    """Return the sensors of a robot by the keys of their kinds."""
    sensors: dict[str, tuple[RobotSensor, ...]] = {}
    used: set[int] = set()
    for kind in SENSOR_KINDS:
        sensors[kind.key] = find_sensors(scope, kind, used)
        used.update(element for sensor in sensors[kind.key] for element in sensor.elements)
    return sensors


def find_sensor_site(model: mujoco.MjModel, prefix: str, name: str) -> int:
    """Return the site of a robot that has a sensor's name, also as in topics; -1 if none has."""
    token = topic_token(name)
    names = {site: model.site(site).name or f"{prefix}site{site}" for site in range(model.nsite)}
    found = [
        site
        for site, full_name in names.items()
        if full_name.startswith(prefix) and topic_token(full_name.removeprefix(prefix)) == token
    ]
    if len(found) > 1:
        raise ambiguous(f"site of '{name}'", [names[site] for site in found], "rename one of them")
    return found[0] if found else -1


def choose_imu(model: mujoco.MjModel, sites: Mapping[str, int], base: int) -> str:
    """Return the name of the only IMU on a base, with all welded to it, or else of the only one."""
    bodies = {name: int(model.site_bodyid[site]) for name, site in sites.items()}
    part = model.body_weldid[base]
    on_base = [name for name, body in bodies.items() if model.body_weldid[body] == part]
    able = on_base or list(bodies)
    if len(able) > 1:
        listed = (f"{name} on {model.body(bodies[name]).name}" for name in able)
        raise ambiguous("IMU", listed, "name one as 'imu'")
    return able[0]


def _grouped(scope: Scope, kind: SensorKind) -> Iterator[tuple[_Place, _Elements]]:
    """Yield the MuJoCo sensors that can form a sensor of a kind, and their place."""
    model = scope.model
    groups: dict[_Place, dict[str, list[int]]] = {}
    for sensor in scope.sensors:
        for measurement in kind.measurements:
            place = _place(model, sensor)
            at_site = place[0] == _SITE and place[3] < 0
            if (
                mujoco.mjtSensor(model.sensor_type[sensor]) in measurement.sensors
                and (kind.is_of_frame or at_site)
                and kind.supports(model, sensor)
            ):
                if len(kind.measurements) == 1:
                    yield place, {measurement.name: sensor}
                groups.setdefault(place, {}).setdefault(measurement.name, []).append(sensor)
    if len(kind.measurements) > 1:
        for place, of_type in sorted(groups.items(), key=lambda group: group[0]):
            # The second sensors of each type on an object are another sensor.
            for row in zip_longest(*of_type.values()):
                yield (
                    place,
                    {
                        name: sensor
                        for name, sensor in zip(of_type, row, strict=True)
                        if sensor is not None
                    },
                )


def _place(model: mujoco.MjModel, sensor: int) -> _Place:
    return (
        int(model.sensor_objtype[sensor]),
        int(model.sensor_objid[sensor]),
        int(model.sensor_reftype[sensor]),
        int(model.sensor_refid[sensor]),
    )


def _is_complete(kind: SensorKind, elements: _Elements, used: Collection[int]) -> bool:
    return any(
        measurement.name in elements
        and not measurement.is_auxiliary
        and elements[measurement.name] not in used
        for measurement in kind.measurements
    ) and all(
        measurement.name in elements or measurement.is_optional for measurement in kind.measurements
    )


def _name(scope: Scope, kind: SensorKind, place: _Place, elements: _Elements) -> str:
    if len(kind.measurements) == 1 or (kind.is_of_frame and len(elements) == 1):
        (sensor,) = elements.values()
        return sensor_name(scope, sensor)
    return _object_name(scope, *place[:2])


def _object_name(scope: Scope, kind: int, element: int) -> str:
    type_name = _OBJECT(kind).name.removeprefix("mjOBJ_").removeprefix("X").lower()
    return scope.name(kind, element) or f"{type_name}{element}"


def _unused_name(names: Collection[str], sensor: int, taken: set[str]) -> str:
    """Return the first of some names whose topic is not taken, or else one with a number."""
    *_, last = names
    tokens = {topic_token(name) for name in taken}
    return next(
        (candidate for candidate in names if topic_token(candidate) not in tokens),
        f"{last}_{sensor}",
    )


def _sensor(
    scope: Scope, kind: SensorKind, place: _Place, elements: _Elements, name: str
) -> RobotSensor:
    constants: dict[str, float] = {}
    for measurement in kind.measurements:
        if measurement.name in elements:
            constants |= kind.constants(scope.model, elements[measurement.name])
        else:
            constants |= measurement.absence
    if not kind.is_of_frame:
        frame = object_frame(scope, *place[:2], kind.frame_suffix, kind.frame_quat_wxyz)
    else:
        frame = WORLD_FRAME if place[3] < 0 else object_frame(scope, *place[2:])
    addresses = scope.model.sensor_adr
    names = [scope.short(scope.model.sensor(sensor).name) for sensor in elements.values()]
    return RobotSensor(
        name=name,
        frame=frame,
        site=place[1] if place[0] == _SITE else -1,
        elements=tuple(elements.values()),
        addresses={name: int(addresses[sensor]) for name, sensor in elements.items()},
        constants=constants,
        stem=commonprefix(names).rstrip("_-"),  # noqa: RUF071 - of names, not of paths
    )


class Distances:
    """The distances in sensordata, and which of them are out of range."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find the distances that the rangefinders of `model` report."""
        ranges = np.flatnonzero(model.sensor_type == _TYPE.mjSENS_RANGEFINDER).tolist()
        found = [
            (address, farthest_distance(model, sensor))
            for sensor in ranges
            for address in distance_addresses(model, sensor)
        ]
        # Their addresses in sensordata (n,)
        self.addresses = np.array([address for address, _ in found], dtype=np.intp)
        # From which distance on each is out of range [m] (n,)
        self.farthest = np.array([farthest for _, farthest in found])

    def out_of_range(self, sensordata: np.ndarray) -> np.ndarray:
        """Return the addresses of the distances at which nothing was hit."""
        distances = sensordata[self.addresses]
        return self.addresses[(distances < 0) | (distances >= self.farthest)]

    def mark(self, sensordata: np.ndarray) -> None:
        """Write +inf to the distances that are out of range (REP-117)."""
        sensordata[self.out_of_range(sensordata)] = np.inf
