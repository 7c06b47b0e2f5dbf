"""The kinds of sensors that have topics; each kind is one declaration in `SENSOR_KINDS`.

Topics, rates, TF frames, plots, noise, the observations of controllers, RViz displays and the
reference pages follow from the declaration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any

import mujoco

_TYPE = mujoco.mjtSensor
_RAY_ANGLE = 0.01
"""Angle of the cone [rad] that displays and costmaps draw for a ray; 0 would be invisible."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A MuJoCo sensor that is part of a kind, and the message fields of its numbers."""

    name: str  # its attribute in a reading of an observation
    sensors: tuple[mujoco.mjtSensor, ...]  # types of MuJoCo sensors that measure it
    path: str  # field of the message; `axes` are its fields
    axes: str = ""  # in the order of sensordata, "xyz" or "wxyz"; empty for a single number
    label: str = ""  # label in the viewer's plots; empty for no plot
    unit: str = ""  # unit in the plots
    is_optional: bool = False  # whether a sensor of the kind may lack it; see `absence`
    is_auxiliary: bool = False  # whether it alone does not make a sensor of the kind
    # Whether the sign follows the parameter ``wrench_sign``. MuJoCo reports the load of the parent
    # on the child.
    is_load: bool = False
    # Whether MuJoCo reports a negative number, or the cutoff, if nothing is in range. It is
    # published as +inf (REP-117), without noise.
    is_distance: bool = False
    has_covariance: bool = False  # whether the message has a covariance of the measurement
    # Whether the message has the numbers in single precision, as observations then do, too
    is_single: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the message fields of the numbers, in the order of sensordata."""
        return tuple(f"{self.path}.{axis}" for axis in self.axes) or (self.path,)

    @property
    def absence(self) -> Mapping[str, float]:
        """Return the message fields, and values, that mark an optional measurement as absent.

        A covariance that starts with -1 (sensor_msgs/Imu), or else numbers that are NaN.
        """
        if not self.is_optional:
            return {}
        if self.has_covariance:
            return {f"{self.path}_covariance.0": -1.0}
        return dict.fromkeys(self.paths, nan)


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorKind:
    """A kind of sensor.

    A kind of one measurement has a topic for each MuJoCo sensor of that type. Several measurements
    form one sensor if their MuJoCo sensors are on the same object, with the same reference; it has
    the name of the object.
    """

    # Topics are ``<namespace>/<key>/<name>``, the rate is ``publish_rate.<key>``, and ``{<key>}``
    # is the placeholder in RViz configurations
    key: str
    title: str  # name of one sensor of the kind in log messages
    message: str  # the ROS message, ``<package>/msg/<name>``
    measurements: tuple[Measurement, ...]
    observation: str  # field of `Observation` with the readings by name
    plots: str  # heading of its plots in the viewer, behind the robot's name
    rate_hz: float = 500.0  # default publish rate in simulated time [Hz]
    display: Mapping[str, Any] | None = None  # class and properties of its RViz display, if any
    # Whether it measures a body, geom, site, camera or subtree in a reference frame, which is the
    # frame of the messages: ``world`` by default. Others are at a site, in its frame. A sensor of
    # a frame with one MuJoCo sensor has the MuJoCo sensor's name.
    is_of_frame: bool = False
    frame_suffix: str = ""  # added to the TF frame of the site, if the messages have another frame
    # Orientation of the TF frame in the site's frame; None if they coincide
    frame_quat_wxyz: tuple[float, float, float, float] | None = None
    # Returns the message fields that depend on a MuJoCo sensor and never change
    constants: Callable[[mujoco.MjModel, int], Mapping[str, float]] = lambda _model, _sensor: {}
    # Whether a MuJoCo sensor of the right type can be published
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


def _vector(
    name: str, sensor: mujoco.mjtSensor, path: str, unit: str, label: str = "", **is_: bool
) -> Measurement:
    """Return the measurement of a vector, by default with its name as the label."""
    return Measurement(name, (sensor,), path, "xyz", label or name, unit, **is_)


def _motion(
    path: str, linear: mujoco.mjtSensor, angular: mujoco.mjtSensor, per: str
) -> tuple[Measurement, ...]:
    """Return the measurements of a twist or an acceleration; each may be absent."""
    return (
        _vector("linear", linear, f"{path}.linear", f"m{per}", is_optional=True),
        _vector("angular", angular, f"{path}.angular", f"rad{per}", is_optional=True),
    )


def _quaternion(path: str, **others: Any) -> Measurement:
    sensors = (_TYPE.mjSENS_FRAMEQUAT,)
    return Measurement("quat_wxyz", sensors, path, "wxyz", is_optional=True, **others)


_OF_IMU: dict[str, Any] = {"is_optional": True, "has_covariance": True}
_OF_WRENCH: dict[str, Any] = {"is_optional": True, "is_load": True}
_FORCE, _TORQUE = _TYPE.mjSENS_FORCE, _TYPE.mjSENS_TORQUE
_GYRO, _ACCELEROMETER = _TYPE.mjSENS_GYRO, _TYPE.mjSENS_ACCELEROMETER
_AXES = (_TYPE.mjSENS_FRAMEXAXIS, _TYPE.mjSENS_FRAMEYAXIS, _TYPE.mjSENS_FRAMEZAXIS)

SENSOR_KINDS = (
    SensorKind(
        key="imu",
        title="IMU",
        message="sensor_msgs/msg/Imu",
        measurements=(
            _quaternion("orientation", has_covariance=True, is_auxiliary=True),
            _vector(
                *("angular_velocity", _GYRO, "angular_velocity"),
                *("rad/s", "angular velocity"),
                **_OF_IMU,
            ),
            _vector(
                *("linear_acceleration", _ACCELEROMETER, "linear_acceleration"),
                *("m/s²", "acceleration"),
                **_OF_IMU,
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
            _vector("force", _FORCE, "wrench.force", "N", **_OF_WRENCH),
            _vector("torque", _TORQUE, "wrench.torque", "Nm", **_OF_WRENCH),
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
                "force", (_TYPE.mjSENS_TOUCH,), "wrench.force.z", label="normal force", unit="N"
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
            _vector(
                *("magnetic_field", _TYPE.mjSENS_MAGNETOMETER, "magnetic_field"),
                *("T", "magnetic field"),
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
                *("range", (_TYPE.mjSENS_RANGEFINDER,), "range", "", "range", "m"),
                is_distance=True,
                is_single=True,
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
        # MuJoCo's ray is the z axis of the site; in sensor_msgs/Range it is the x axis.
        frame_suffix="_beam",
        frame_quat_wxyz=(sqrt(0.5), 0.0, -sqrt(0.5), 0.0),
        constants=_range_constants,
        supports=_reports_distance,
    ),
    SensorKind(
        key="velocimeter",
        title="velocimeter",
        message="geometry_msgs/msg/TwistStamped",
        measurements=(
            _vector("linear", _TYPE.mjSENS_VELOCIMETER, "twist.linear", "m/s", "velocity"),
        ),
        observation="velocimeters",
        plots="velocimeters",
        constants=lambda _model, _sensor: {f"twist.angular.{axis}": nan for axis in "xyz"},
    ),
    SensorKind(
        key="pose",
        title="pose sensor",
        message="geometry_msgs/msg/PoseStamped",
        measurements=(
            _vector("position", _TYPE.mjSENS_FRAMEPOS, "pose.position", "m", is_optional=True),
            _quaternion("pose.orientation", label="orientation"),
        ),
        observation="poses",
        plots="poses",
        is_of_frame=True,
        display={
            "Class": "rviz_default_plugins/Pose",
            "Shape": "Axes",
            "Axes Length": 0.1,
            "Axes Radius": 0.01,
        },
    ),
    SensorKind(
        key="twist",
        title="velocity sensor",
        message="geometry_msgs/msg/TwistStamped",
        measurements=_motion("twist", _TYPE.mjSENS_FRAMELINVEL, _TYPE.mjSENS_FRAMEANGVEL, "/s"),
        observation="twists",
        plots="velocities",
        is_of_frame=True,
    ),
    SensorKind(
        key="accel",
        title="acceleration sensor",
        message="geometry_msgs/msg/AccelStamped",
        # As of an accelerometer, the linear one is the specific force, +g upwards at rest.
        measurements=_motion("accel", _TYPE.mjSENS_FRAMELINACC, _TYPE.mjSENS_FRAMEANGACC, "/s²"),
        observation="accels",
        plots="accelerations",
        is_of_frame=True,
    ),
    SensorKind(
        key="axis",
        title="axis sensor",
        message="geometry_msgs/msg/Vector3Stamped",
        measurements=(Measurement("vector", _AXES, "vector", "xyz", "axis"),),
        observation="axes",
        plots="axes",
        is_of_frame=True,
    ),
    SensorKind(
        key="subtree_com",
        title="centre of mass",
        message="geometry_msgs/msg/PointStamped",
        measurements=(_vector("point", _TYPE.mjSENS_SUBTREECOM, "point", "m", "position"),),
        observation="subtree_coms",
        plots="centres of mass",
        is_of_frame=True,
        display={
            "Class": "rviz_default_plugins/PointStamped",
            "Alpha": 1,
            "Color": "204; 41; 204",
            "History Length": 1,
            "Radius": 0.03,
        },
    ),
    SensorKind(
        key="subtree_linvel",
        title="velocity of a centre of mass",
        message="geometry_msgs/msg/Vector3Stamped",
        measurements=(_vector("vector", _TYPE.mjSENS_SUBTREELINVEL, "vector", "m/s", "velocity"),),
        observation="subtree_linvels",
        plots="velocities of centres of mass",
        is_of_frame=True,
    ),
    SensorKind(
        key="subtree_angmom",
        title="angular momentum",
        message="geometry_msgs/msg/Vector3Stamped",
        measurements=(_vector("vector", _TYPE.mjSENS_SUBTREEANGMOM, "vector", "Nms", "momentum"),),
        observation="subtree_angmoms",
        plots="angular momenta",
        is_of_frame=True,
    ),
)
"""All kinds, in the order of the topics."""
