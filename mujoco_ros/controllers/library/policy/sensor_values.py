"""Measurements of a robot by name, as fixed numbers of values of an observation."""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.scope import Scope
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.model.sensors.robot_sensors import find_all_sensors
from mujoco_ros.model.sensors.sensor_states import find_states

Read = Callable[[Observation], Any]
"""Returns the values of a measurement."""


class SensorValues:
    """The measurements that the observations of a robot contain.

    A sensor has the name of its topic. A controller node without its topic has no measurement.
    """

    def __init__(self, robot: RobotModel) -> None:
        """Find the sensors of a robot in its model."""
        scope = Scope(robot.model, robot.prefix, _other_prefixes(robot))
        self._found: dict[str, dict[str, tuple[int, Read]]] = {}  # values by sensor
        self._kinds: dict[str, set[str]] = {}  # names of sensors by their field of observations
        sensors = find_all_sensors(scope)
        for kind in SENSOR_KINDS:
            for sensor in sensors[kind.key]:
                name = topic_token(sensor.name)
                self._kinds.setdefault(kind.observation, set()).add(name)
                for it in kind.measurements:
                    if it.name in sensor.addresses:
                        read = _reader(kind.observation, name, it.name)
                        values = self._found.setdefault(name, {})
                        key = it.name if it.name not in values else f"{kind.key}.{it.name}"
                        values[key] = max(1, len(it.axes)), read
        for state in find_states(scope):
            read = _reader("sensor_states", state.name, "")
            size = len(state.quantity.interfaces)
            self._found.setdefault(state.name, {})["state"] = size, read

    def find(self, sensor: str, value: str = "") -> tuple[int, Read]:
        """Return the number of values of a measurement, and a function that reads them.

        Args:
            sensor: Name of the sensor.
            value: The measurement; may be empty if the sensor has only one.

        Raises:
            UserInputError: The robot has no such sensor, or it no such measurement.
        """
        if sensor not in self._found and topic_token(sensor) in self._found:
            sensor = topic_token(sensor)
        if sensor not in self._found:
            raise unknown("sensor", sensor, self._found)
        values = self._found[sensor]
        if not value and len(values) == 1:
            (value,) = values
        if not value:
            raise UserInputError(
                f"sensor '{sensor}' has several values, so choose a 'value': {', '.join(values)}"
            )
        if value not in values:
            raise unknown(f"sensor '{sensor}': value", value, values)
        return values[value]

    def find_imu(self, name: str, value: str) -> Read:
        """Return a function that reads a measurement of an IMU, as `find`."""
        imus = self._kinds.get("imus", set())
        if topic_token(name) not in imus:
            raise unknown("IMU", name, sorted(imus))
        return self.find(name, value)[1]


def _other_prefixes(robot: RobotModel) -> tuple[str, ...]:
    """Return the prefixes of other parts of the scene; a robot without a prefix is the only one."""
    names = (robot.model.body(body).name for body in range(robot.model.nbody))
    prefixes = {f"{name.partition('/')[0]}/" for name in names if "/" in name}
    return tuple(sorted(prefixes - {robot.prefix}))


def _reader(entry: str, name: str, attribute: str) -> Read:
    def read(observation: Observation) -> Any:
        readings = getattr(observation, entry)
        if name not in readings:
            raise UserInputError(f"the observation lacks the sensor '{name}'")
        reading = readings[name]
        if is_dataclass(reading):  # others are the values themselves
            reading = getattr(reading, attribute)
        return np.nan if reading is None else reading

    return read
