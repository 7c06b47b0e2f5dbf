"""What a kind of sensor consists of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import mujoco


@dataclass(frozen=True, slots=True)
class Measurement:
    """A MuJoCo sensor that is part of a kind, and the message fields of its numbers.

    Attributes:
        name: Its attribute in a reading of an observation.
        sensors: Types of MuJoCo sensors that measure it.
        path: Field of the message; `axes` are fields of that.
        axes: The numbers in the order of sensordata, ``"xyz"`` or ``"wxyz"``; empty for a single
            number.
        label: Label in the viewer's plots; empty for no plot.
        unit: Unit in the plots.
        is_optional: Whether a sensor of the kind may lack it; see `absence`.
        is_auxiliary: Whether the measurement alone does not make a sensor of the kind.
        is_load: Whether the sign follows the parameter ``wrench_sign``. MuJoCo reports the load of
            the parent on the child.
        is_distance: Whether MuJoCo reports a negative number, or the cutoff, if nothing is in
            range. That is published as +inf (REP-117), without noise.
        has_covariance: Whether the message has a covariance of the measurement.
        is_single: Whether the message has the numbers in single precision. Observations have the
            numbers of the message.
    """

    name: str
    sensors: tuple[mujoco.mjtSensor, ...]
    path: str
    axes: str = ""
    label: str = ""
    unit: str = ""
    is_optional: bool = False
    is_auxiliary: bool = False
    is_load: bool = False
    is_distance: bool = False
    has_covariance: bool = False
    is_single: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the message fields of the numbers, in the order of sensordata."""
        return tuple(f"{self.path}.{axis}" for axis in self.axes) or (self.path,)

    @property
    def absence(self) -> Mapping[str, float]:
        """Return the message fields, and values, that mark an optional measurement as absent.

        That is a covariance that starts with -1 (sensor_msgs/Imu), or else numbers that are NaN.
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
        is_of_frame: Whether it measures a body, geom, site, camera or subtree in a reference frame,
            which is the frame of the messages: ``world`` by default. Others are at a site, in the
            frame of that. A sensor of a frame with one MuJoCo sensor has the name of that.
        frame_suffix: Added to the name of the site's TF frame, if the messages have another frame.
        frame_quat_wxyz: Orientation of the TF frame in the site's frame; None if they coincide.
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
    is_of_frame: bool = False
    frame_suffix: str = ""
    frame_quat_wxyz: tuple[float, float, float, float] | None = None
    constants: Callable[[mujoco.MjModel, int], Mapping[str, float]] = lambda _model, _sensor: {}
    supports: Callable[[mujoco.MjModel, int], bool] = lambda _model, _sensor: True
