"""State interfaces of a robot's sensors, named as semantic components of ros2_control."""

from collections.abc import Callable, Mapping
from functools import partial
from math import cos, degrees, inf, radians, sin, sqrt

import numpy as np

from mujoco_ros.control.joints import LARGEST
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS
from mujoco_ros.ros2_control.hardware_blocks import DeclaredHardware
from mujoco_ros.sim.sample import Sample

_PREFIXES = ("wrench.", "pose.", "twist.", "accel.")
"""Parts of message fields that the names of state interfaces leave out."""


class SensorStates:
    """The state interfaces ``<sensor>/orientation.x``, ``/force.x``, ``/range`` and so on."""

    def __init__(
        self, robot: RobotLayout, sample: Sample, load_sign: float, in_model: Mapping[str, str]
    ) -> None:
        """Read the sensors of a robot; `load_sign` is the sign of forces and torques.

        Names that the URDF declares are names, too, of the sensors with the stem `in_model`.
        """
        self._load_sign, self._in_model = load_sign, in_model
        self.bind(robot, sample)

    def bind(self, robot: RobotLayout, sample: Sample) -> None:
        """Read the sample of another model with the same robot."""
        self._joints, self._sample = robot.joints, sample
        self._root = robot.bases[0].body if robot.bases else min(robot.bodies)
        self._values: np.ndarray = sample.sensordata
        self._places: dict[str, tuple[int, float, bool]] = {}
        for kind in SENSOR_KINDS:
            for sensor in robot.sensors[kind.key]:
                declared = (name for name, stem in self._in_model.items() if stem == sensor.stem)
                names = (sensor.name, *declared)
                for measurement in kind.measurements:
                    address = sensor.addresses.get(measurement.name)
                    if address is None:
                        continue
                    sign = self._load_sign if measurement.is_load else 1.0
                    for index, path in enumerate(measurement.paths):
                        for prefix in _PREFIXES:
                            path = path.removeprefix(prefix)
                        place = (address + index, sign, measurement.is_distance)
                        for name in names:
                            self._places.setdefault(f"{name}/{path}", place)

    def joints(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return measured positions, velocities and efforts of the joints.  # (n,) each"""
        sample, dof = self._sample, self._joints.dof
        qpos = sample.measured_qpos[self._joints.qpos]
        return qpos, sample.measured_qvel[dof], sample.measured_effort[dof]

    def readers(self, declared: DeclaredHardware) -> dict[str, Callable[[], float]]:
        """Return what measures each state interface, also after `bind`.

        A `declared` sensor with a latitude is a GPS receiver in the root link, whose initial values
        are where the origin of the world is.

        Raises:
            UserInputError: Such a value is not finite, or no latitude.
        """
        found: dict[str, Callable[[], float]] = {
            name: partial(self._read, name) for name in self._places
        }
        states = (name for block in declared.blocks for name in block.states)
        for sensor in [n.removesuffix("/latitude") for n in states if n.endswith("/latitude")]:
            names = [f"{sensor}/{kind}" for kind in ("latitude", "longitude", "altitude")]
            origin = [declared.initial.get(name, 0.0) for name in names]
            for name, value, most in zip(names, origin, (_POLE, LARGEST, LARGEST), strict=True):
                if not abs(value) <= most:  # true for NaN
                    raise UserInputError(
                        f"<ros2_control>: initial_value of '{name}' is {value:g}; it must be from "
                        f"{-most:g} to {most:g}, as it is where the origin of the world is"
                    )
            for name, locate in zip(names, geodetic(*origin), strict=True):
                found[name] = partial(self._locate, locate)
        return found

    def _locate(self, locate: Callable[[np.ndarray], float]) -> float:
        return locate(self._sample.xpos[self._root])

    def _read(self, name: str) -> float:
        address, sign, is_distance = self._places[name]
        value = sign * float(self._values[address])
        return inf if is_distance and value < 0.0 else value


_POLE = 89.9  # degree: at a pole there is no east
_EQUATOR_M, _ECCENTRICITY_SQUARED = 6378137.0, 6.69437999014e-3  # of WGS 84


def geodetic(
    latitude: float, longitude: float, altitude: float
) -> tuple[Callable[[np.ndarray], float], ...]:
    """Return latitude, longitude [degree] and altitude [m] as functions of a position [m].

    x points east, y north (REP 103), and the origin is given. The earth is flat: at a distance of
    1 km, the altitude is 8 cm too low.
    """
    sine, cosine = sin(radians(latitude)), cos(radians(latitude))
    share = 1.0 - _ECCENTRICITY_SQUARED * sine**2
    across = _EQUATOR_M / sqrt(share)  # radius of curvature from east to west
    along = across * (1.0 - _ECCENTRICITY_SQUARED) / share
    return (
        lambda position: latitude + degrees(position[1] / along),
        lambda position: longitude + degrees(position[0] / (across * cosine)),
        lambda position: altitude + float(position[2]),
    )
