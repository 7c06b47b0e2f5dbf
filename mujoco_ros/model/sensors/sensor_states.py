"""Sensors that are published together, as named values: of joints, tendons, actuators, geoms, …"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import mujoco

from mujoco_ros.model.robot.scope import Scope

STATES = "sensor_states"
"""Topic of the values of a robot."""
_TYPE = mujoco.mjtSensor


@dataclass(frozen=True, slots=True)
class SensorQuantity:
    """What a type of MuJoCo sensor measures."""

    name: str  # its name; of joints and actuators as the interfaces of ros2_control
    unit: str = ""  # its unit in plots; of a rotational joint where a prismatic one differs
    axes: tuple[str, ...] = ()  # names of its numbers; empty for a single one

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Return the names of its numbers, such as ``position`` or ``orientation.w``."""
        return tuple(f"{self.name}.{axis}" for axis in self.axes) or (self.name,)


_XYZ, _WXYZ = tuple("xyz"), tuple("wxyz")
QUANTITIES: Mapping[mujoco.mjtSensor, SensorQuantity] = {
    _TYPE.mjSENS_JOINTPOS: SensorQuantity("position", "rad"),
    _TYPE.mjSENS_JOINTVEL: SensorQuantity("velocity", "rad/s"),
    _TYPE.mjSENS_JOINTACTFRC: SensorQuantity("effort", "Nm"),
    _TYPE.mjSENS_BALLQUAT: SensorQuantity("orientation", "", _WXYZ),
    _TYPE.mjSENS_BALLANGVEL: SensorQuantity("angular_velocity", "rad/s", _XYZ),
    _TYPE.mjSENS_JOINTLIMITPOS: SensorQuantity("limit_distance", "rad"),
    _TYPE.mjSENS_JOINTLIMITVEL: SensorQuantity("limit_velocity", "rad/s"),
    _TYPE.mjSENS_JOINTLIMITFRC: SensorQuantity("limit_effort", "Nm"),
    _TYPE.mjSENS_TENDONPOS: SensorQuantity("position", "m"),
    _TYPE.mjSENS_TENDONVEL: SensorQuantity("velocity", "m/s"),
    _TYPE.mjSENS_TENDONACTFRC: SensorQuantity("effort", "N"),
    _TYPE.mjSENS_TENDONLIMITPOS: SensorQuantity("limit_distance", "m"),
    _TYPE.mjSENS_TENDONLIMITVEL: SensorQuantity("limit_velocity", "m/s"),
    _TYPE.mjSENS_TENDONLIMITFRC: SensorQuantity("limit_effort", "N"),
    _TYPE.mjSENS_ACTUATORPOS: SensorQuantity("position", "rad"),
    _TYPE.mjSENS_ACTUATORVEL: SensorQuantity("velocity", "rad/s"),
    _TYPE.mjSENS_ACTUATORFRC: SensorQuantity("effort", "Nm"),
    _TYPE.mjSENS_INSIDESITE: SensorQuantity("inside"),
    _TYPE.mjSENS_GEOMDIST: SensorQuantity("distance", "m"),
    _TYPE.mjSENS_GEOMNORMAL: SensorQuantity("normal", "", _XYZ),
    _TYPE.mjSENS_GEOMFROMTO: SensorQuantity(
        "point", "m", ("from.x", "from.y", "from.z", "to.x", "to.y", "to.z")
    ),
    _TYPE.mjSENS_CAMPROJECTION: SensorQuantity("pixel", "", ("x", "y")),
    _TYPE.mjSENS_E_POTENTIAL: SensorQuantity("potential_energy", "J"),
    _TYPE.mjSENS_E_KINETIC: SensorQuantity("kinetic_energy", "J"),
    _TYPE.mjSENS_CLOCK: SensorQuantity("time", "s"),
}
"""The types of MuJoCo sensors that are published as named values."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorState:
    """A MuJoCo sensor that is published as named values."""

    name: str
    quantity: SensorQuantity
    element: int
    address: int  # address of its first number in sensordata


def find_states(scope: Scope) -> tuple[SensorState, ...]:
    """Return the sensors of a robot that are published as named values."""
    states, taken = [], set[str]()
    for sensor in scope.sensors:
        kind = mujoco.mjtSensor(scope.model.sensor_type[sensor])
        if kind in QUANTITIES:
            states.append(
                SensorState(
                    name=sensor_name(scope, sensor, taken),
                    quantity=QUANTITIES[kind],
                    element=sensor,
                    address=int(scope.model.sensor_adr[sensor]),
                )
            )
            taken.add(states[-1].name)
    return tuple(states)


def sensor_type(model: mujoco.MjModel, sensor: int) -> str:
    """Return the type of a MuJoCo sensor as MJCF names it."""
    return str(_TYPE(model.sensor_type[sensor]).name).removeprefix("mjSENS_").lower()


def sensor_name(scope: Scope, sensor: int, taken: Collection[str] = ()) -> str:
    """Return the name of a MuJoCo sensor, or else a number behind its type, not among `taken`."""
    model = scope.model
    name = scope.short(model.sensor(sensor).name) or f"{sensor_type(model, sensor)}{sensor}"
    return f"{name}_{sensor}" if name in taken else name
