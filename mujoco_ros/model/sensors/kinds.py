"""The kinds of sensors that have topics; each kind is one declaration in `SENSOR_KINDS`.

Topics, rates, TF frames, plots, noise, the observations of controllers, RViz displays and the
reference pages follow from the declaration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import mujoco

_TYPE = mujoco.mjtSensor
_RAY_ANGLE = 0.01
"""Angle of the cone [rad] that displays and costmaps draw for a ray; 0 would be invisible."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A MuJoCo sensor that is part of a kind, and the message fields of its numbers.

    Attributes:
        name: Its attribute in a reading of an observation.
        sensor: Type of the MuJoCo sensor.
        path: Field of the message; `axes` are fields of that.
        axes: The numbers in the order of sensordata, ``"xyz"`` or ``"wxyz"``; empty for a single
            number.
        label: Label in the viewer's plots; empty for no plot.
        unit: Unit in the plots.
        is_optional: Whether a sensor of the kind may lack it. A covariance that starts with -1 then
            marks the measurement as absent (sensor_msgs/Imu).
        is_auxiliary: Whether the measurement alone does not make a sensor of the kind.
        is_load: Whether the sign follows the parameter ``wrench_sign``. MuJoCo reports the load of
            the parent on the child.
        is_distance: Whether MuJoCo reports a negative number, or the cutoff, if nothing is in
            range. That is published as +inf (REP-117), without noise.
    """

    name: str
    sensor: mujoco.mjtSensor
    path: str
    axes: str = ""
    label: str = ""
    unit: str = ""
    is_optional: bool = False
    is_auxiliary: bool = False
    is_load: bool = False
    is_distance: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the message fields of the numbers, in the order of sensordata."""
        return tuple(f"{self.path}.{axis}" for axis in self.axes) or (self.path,)

    @property
    def absence(self) -> tuple[str, float] | None:
        """Return the message field, and its value, that mark an optional measurement as absent."""
        return (f"{self.path}_covariance.0", -1.0) if self.is_optional else None


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorKind:
    """A kind of sensor.

    A kind of one measurement has a topic for each MuJoCo sensor of that type. Several measurements
    form one sensor if their MuJoCo sensors are on one site; it has the name of the site.

    Attributes:
        key: Topics are ``<namespace>/<key>/<name>``, the rate is ``publish_rate.<key>``, the
            placeholder in RViz configurations is ``{<key>}``.
        title: Name of one sensor of the kind in log messages.
        message: The ROS message, ``<package>/msg/<name>``.
        measurements: The MuJoCo sensors that it consists of.
        observation: Field of `Observation` with the readings by name.
        plots: Heading of its plots in the viewer, behind the robot's name.
        rate_hz: Default publish rate in simulated time [Hz].
        display: Class and properties of its RViz display; None if RViz has none.
        frame_suffix: Distinguishes the TF frame of the messages from that of the site.
        frame_quat_wxyz: Orientation of the TF frame in that of the site; None if they coincide.
        constants: Returns the message fields that depend on a MuJoCo sensor and never change.
        supports: Whether a MuJoCo sensor of the right type can be published.
    """

    key: str
    title: str
    message: str
    measurements: tuple[Measurement, ...]
    observation: str
    plots: str
    rate_hz: float = 500.0
    display: Mapping[str, Any] | None = None
    frame_suffix: str = ""
    frame_quat_wxyz: tuple[float, float, float, float] | None = None
    constants: Callable[[mujoco.MjModel, int], Mapping[str, float]] = lambda _model, _sensor: {}
    supports: Callable[[mujoco.MjModel, int], bool] = lambda _model, _sensor: True


def farthest_distance(model: mujoco.MjModel, sensor: int) -> float:
    """Return the cutoff of a MuJoCo sensor; inf without one."""
    return float(model.sensor_cutoff[sensor]) or inf


def _range_constants(model: mujoco.MjModel, sensor: int) -> dict[str, float]:
    infrared = 1  # Range.INFRARED: the beam is a single ray
    farthest = farthest_distance(model, sensor)
    return {"radiation_type": infrared, "field_of_view": _RAY_ANGLE, "max_range": farthest}


def _reports_distance(model: mujoco.MjModel, sensor: int) -> bool:
    """Whether the first number of a MuJoCo rangefinder is the distance."""
    return bool(model.sensor_intprm[sensor, 0] & 1 << int(mujoco.mjtRayDataField.mjRAYDATA_DIST))


SENSOR_KINDS = (
    SensorKind(
        key="imu",
        title="IMU",
        message="sensor_msgs/msg/Imu",
        measurements=(
            Measurement(
                "quat_wxyz",
                _TYPE.mjSENS_FRAMEQUAT,
                "orientation",
                "wxyz",
                is_optional=True,
                is_auxiliary=True,
            ),
            Measurement(
                "angular_velocity",
                _TYPE.mjSENS_GYRO,
                "angular_velocity",
                "xyz",
                label="angular velocity",
                unit="rad/s",
                is_optional=True,
            ),
            Measurement(
                "linear_acceleration",
                _TYPE.mjSENS_ACCELEROMETER,
                "linear_acceleration",
                "xyz",
                label="acceleration",
                unit="m/s²",
                is_optional=True,
            ),
        ),
        observation="imus",
        plots="IMUs",
    ),
    SensorKind(
        key="wrench",
        title="force-torque sensor",
        message="geometry_msgs/msg/WrenchStamped",
        measurements=(
            Measurement(
                "force", _TYPE.mjSENS_FORCE, "wrench.force", "xyz", "force", "N", is_load=True
            ),
            Measurement(
                "torque", _TYPE.mjSENS_TORQUE, "wrench.torque", "xyz", "torque", "Nm", is_load=True
            ),
        ),
        observation="wrenches",
        plots="wrenches",
        # A load of 300 N is an arrow of 0.6 m, the scale of the contact arrows.
        display={
            "Class": "rviz_default_plugins/Wrench",
            "Accept NaN Values": False,
            "Alpha": 1,
            "Arrow Width": 0.3,
            "Force Arrow Scale": 0.002,
            "Force Color": "204; 51; 51",
            "History Length": 1,
            "Torque Arrow Scale": 0.02,
            "Torque Color": "204; 204; 51",
        },
    ),
    SensorKind(
        key="contact",
        title="touch sensor",
        message="geometry_msgs/msg/WrenchStamped",
        measurements=(
            Measurement(
                "force", _TYPE.mjSENS_TOUCH, "wrench.force.z", label="normal force", unit="N"
            ),
        ),
        observation="touches",
        plots="touch sensors",
    ),
    SensorKind(
        key="magnetometer",
        title="magnetometer",
        message="sensor_msgs/msg/MagneticField",
        # MuJoCo rotates the option `magnetic` into the site, whatever unit the model gives it in.
        measurements=(
            Measurement(
                "magnetic_field",
                _TYPE.mjSENS_MAGNETOMETER,
                "magnetic_field",
                "xyz",
                label="magnetic field",
                unit="T",
            ),
        ),
        observation="magnetometers",
        plots="magnetometers",
    ),
    SensorKind(
        key="range",
        title="rangefinder",
        message="sensor_msgs/msg/Range",
        measurements=(
            Measurement(
                "range",
                _TYPE.mjSENS_RANGEFINDER,
                "range",
                label="range",
                unit="m",
                is_distance=True,
            ),
        ),
        observation="ranges",
        plots="rangefinders",
        display={
            "Class": "rviz_default_plugins/Range",
            "Alpha": 0.5,
            "Buffer Length": 1,
            "Color": "239; 41; 41",
        },
        # The ray of a site is its z axis, and that of sensor_msgs/Range the x axis.
        frame_suffix="_beam",
        frame_quat_wxyz=(sqrt(0.5), 0.0, -sqrt(0.5), 0.0),
        constants=_range_constants,
        supports=_reports_distance,
    ),
)
"""All kinds, in the order of the topics."""
