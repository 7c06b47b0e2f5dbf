"""The sensors of a robot, found in a compiled model by the declarations of their kinds."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.robot.frame_names import site_frame
from mujoco_ros.model.robot.scope import Scope
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind, farthest_distance


@dataclass(frozen=True, kw_only=True)
class SiteSensor:
    """A sensor of a robot.

    Attributes:
        name: Name in topics.
        frame: TF frame of the messages, without the robot's prefix.
        site: Site of the sensor.
        quat_wxyz: Orientation of the frame in that of the site; None if they coincide.
        elements: MuJoCo sensors that it consists of.
        addresses: Address in sensordata of each measurement, by name; absent ones are left out.
        constants: Message fields that never change, by path.
    """

    name: str
    frame: str
    site: int
    quat_wxyz: tuple[float, float, float, float] | None
    elements: tuple[int, ...]
    addresses: Mapping[str, int]
    constants: Mapping[str, float]


def find_sensors(scope: Scope, kind: SensorKind) -> tuple[SiteSensor, ...]:
    """Return the sensors of a kind that a robot has."""
    found = {
        measurement.name: [
            (sensor, site)
            for sensor, site in scope.sensors(measurement.sensor)
            if kind.supports(scope.model, sensor)
        ]
        for measurement in kind.measurements
    }
    if len(found) == 1:
        ((name, of_type),) = found.items()
        return tuple(_sensor(scope, kind, site, {name: sensor}) for sensor, site in of_type)
    # Only the first sensor of each type is used.
    by_site = {
        name: {site: sensor for sensor, site in reversed(of_type)}
        for name, of_type in found.items()
    }
    sensors = []
    for site in scope.sites:
        elements = {name: ids[site] for name, ids in by_site.items() if site in ids}
        if _is_complete(kind, elements):
            sensors.append(_sensor(scope, kind, site, elements))
    return tuple(sensors)


def _is_complete(kind: SensorKind, names: Mapping[str, int]) -> bool:
    return any(it.name in names and not it.is_auxiliary for it in kind.measurements) and all(
        it.name in names or it.is_optional for it in kind.measurements
    )


def _sensor(scope: Scope, kind: SensorKind, site: int, elements: Mapping[str, int]) -> SiteSensor:
    model = scope.model
    name = of_site = scope.short(model.site(site).name) or f"site{site}"
    if len(kind.measurements) == 1:
        ((_, sensor),) = elements.items()
        kind_name = mujoco.mjtSensor(model.sensor_type[sensor]).name
        fallback = kind_name.removeprefix("mjSENS_").lower()
        name = scope.short(model.sensor(sensor).name) or f"{fallback}{sensor}"
    constants: dict[str, float] = {}
    for measurement in kind.measurements:
        if measurement.name in elements:
            constants |= kind.constants(model, elements[measurement.name])
        elif measurement.absence:
            constants |= dict([measurement.absence])
    return SiteSensor(
        name=name,
        frame=site_frame(of_site, scope.body_names) + kind.frame_suffix,
        site=site,
        quat_wxyz=kind.frame_quat_wxyz,
        elements=tuple(elements.values()),
        addresses={name: int(model.sensor_adr[sensor]) for name, sensor in elements.items()},
        constants=constants,
    )


class Distances:
    """The distances in sensordata, and detection of those that are out of range.

    Attributes:
        addresses: Their addresses in sensordata.  # (n,)
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Find the distances that have a topic in `model`."""
        kinds = {
            it.sensor: kind for kind in SENSOR_KINDS for it in kind.measurements if it.is_distance
        }
        sensors = [
            sensor
            for sensor in range(model.nsensor)
            if (kind := kinds.get(mujoco.mjtSensor(model.sensor_type[sensor])))
            and model.sensor_objtype[sensor] == mujoco.mjtObj.mjOBJ_SITE
            and kind.supports(model, sensor)
        ]
        self.addresses = np.array([model.sensor_adr[sensor] for sensor in sensors], dtype=np.intp)
        self._farthest = np.array([farthest_distance(model, sensor) for sensor in sensors])

    def out_of_range(self, sensordata: np.ndarray) -> np.ndarray:
        """Return the addresses of the distances at which nothing was hit."""
        distances = sensordata[self.addresses]
        return self.addresses[(distances < 0) | (distances >= self._farthest)]

    def mark(self, sensordata: np.ndarray) -> None:
        """Write +inf to the distances that are out of range (REP-117)."""
        sensordata[self.out_of_range(sensordata)] = np.inf
