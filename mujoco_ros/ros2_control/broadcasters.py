"""Controllers that publish states and command nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.control.joints import INTERFACES
from mujoco_ros.control.settings import setting
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import HardwareInterfaces, StateInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.wrench_filters import WrenchFilters


@dataclass(frozen=True, kw_only=True, slots=True)
class _JointStates:
    use_local_topics: bool = setting("Whether topics are below the controller's name", False)
    joints: tuple[str, ...] = setting("Joints to publish; empty for all", ())
    interfaces: tuple[str, ...] = setting("Their state interfaces; empty for all", ())
    extra_joints: tuple[str, ...] = setting("Joints that are added, with zeros", ())
    frame_id: str = setting("Frame of the messages", "base_link")
    position: str = setting(
        "Interface that is the position",
        "position",
        parameter="map_interface_to_joint_state.position",
    )
    velocity: str = setting(
        "Interface that is the velocity",
        "velocity",
        parameter="map_interface_to_joint_state.velocity",
    )
    effort: str = setting(
        "Interface that is the effort", "effort", parameter="map_interface_to_joint_state.effort"
    )


class JointStateBroadcaster(Controller):
    """joint_state_broadcaster/JointStateBroadcaster; what publishes its `states` reads them."""

    without_meaning = ("use_urdf_to_filter",)  # the joints are the model's

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = self.parameters = parameters.read(_JointStates)
        if read.joints and read.interfaces:
            names = [f"{joint}/{kind}" for joint in read.joints for kind in read.interfaces]
        else:
            names = list(hardware.state_interfaces)
        self.state_interfaces = tuple(names)
        self.states = StateInterfaces(hardware, names)
        # The state interfaces by joint or sensor, as their places among all
        self.groups: dict[str, dict[str, int]] = {}
        for index, interface in enumerate(names):
            group, _, kind = interface.rpartition("/")
            self.groups.setdefault(group, {})[kind] = index
        mapped = dict(zip(INTERFACES, (read.position, read.velocity, read.effort), strict=True))
        # Places of position, velocity and effort, as far as they are available, by joint
        self.joints: dict[str, dict[str, int]] = {}
        for group, kinds in self.groups.items():
            found = {field: kinds[kind] for field, kind in mapped.items() if kind in kinds}
            if found:
                self.joints[group] = found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sensor:
    sensor_name: str = setting("Name of the sensor")
    frame_id: str = setting("Frame of the messages")


class SensorBroadcaster(Controller):
    """Publishes state interfaces of one sensor as the numbers of a message."""

    # Fields of the message, and the state interfaces that they have
    fields: ClassVar[tuple[tuple[str, str], ...]] = ()

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = parameters.read(_Sensor)
        self.frame = read.frame_id
        self._use(hardware, [(path, f"{read.sensor_name}/{kind}") for path, kind in self.fields])

    def _use(self, hardware: HardwareInterfaces, sources: Sequence[tuple[str, str]]) -> None:
        """Read state interfaces, each into a field of the message."""
        if unmeasured := [name for _, name in sources if hardware.is_constant(name)]:
            self.warnings.append(
                f"nothing in the model measures {', '.join(unmeasured)}: they keep their initial "
                "values"
            )
        self.paths = tuple(path for path, _ in sources)
        self.state_interfaces = tuple(interface for _, interface in sources)
        self.states = StateInterfaces(hardware, self.state_interfaces)
        self.values = self.states.values  # the numbers of the message (k,)

    def update(self, time: float, period: float) -> None:
        self.states.read()


def _vector(path: str, interface: str, axes: str = "xyz") -> tuple[tuple[str, str], ...]:
    return tuple((f"{path}.{axis}", f"{interface}.{axis}") for axis in axes)


def _covariance(default: str) -> Any:
    return setting("Covariance, row by row", (0.0,) * 9, parameter=default)


@dataclass(frozen=True, kw_only=True, slots=True)
class _ImuCovariances:
    orientation: tuple[float, ...] = _covariance("static_covariance_orientation")
    angular_velocity: tuple[float, ...] = _covariance("static_covariance_angular_velocity")
    linear_acceleration: tuple[float, ...] = _covariance("static_covariance_linear_acceleration")


class ImuSensorBroadcaster(SensorBroadcaster):
    """imu_sensor_broadcaster/IMUSensorBroadcaster."""

    fields = (
        *_vector("orientation", "orientation", "xyzw"),
        *_vector("angular_velocity", "angular_velocity"),
        *_vector("linear_acceleration", "linear_acceleration"),
    )

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        super()._set_up(parameters, hardware)
        self.covariances = parameters.read(_ImuCovariances)
        for kind in ("orientation", "angular_velocity", "linear_acceleration"):
            if len(getattr(self.covariances, kind)) != 9:
                raise parameters.reject(f"static_covariance_{kind}", "must have 9 numbers")

    def _use(self, hardware: HardwareInterfaces, sources: Sequence[tuple[str, str]]) -> None:
        known = hardware.state_interfaces
        self.has_orientation = sources[0][1] in known
        super()._use(hardware, sources if self.has_orientation else sources[4:])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Beam:
    radiation_type: int = setting("0 for ultrasound, 1 for infrared", 0, high=1)
    field_of_view: float = setting("Angle of the beam [rad]", 0.52)
    min_range: float = setting("Smallest distance [m]", 0.52)
    max_range: float = setting("Largest distance [m]", 4.0)
    variance: float = setting("Variance of the distance [m²]", 0.0)


class RangeSensorBroadcaster(SensorBroadcaster):
    """range_sensor_broadcaster/RangeSensorBroadcaster."""

    fields = (("range", "range"),)

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        super()._set_up(parameters, hardware)
        self.beam = parameters.read(_Beam)


class MagnetometerBroadcaster(SensorBroadcaster):
    """magnetometer_broadcaster/MagnetometerBroadcaster."""

    fields = _vector("magnetic_field", "magnetic_field")


@dataclass(frozen=True, kw_only=True, slots=True)
class _GpsCovariance:
    static: tuple[float, ...] = _covariance("static_position_covariance")
    is_measured: bool = setting(
        "Whether state interfaces have it", False, parameter="read_covariance_from_interface"
    )


class GpsSensorBroadcaster(SensorBroadcaster):
    """gps_sensor_broadcaster/GPSSensorBroadcaster."""

    fields = tuple((name, name) for name in ("latitude", "longitude", "altitude"))

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = self.covariance = parameters.read(_GpsCovariance)
        if len(read.static) != 9:
            raise parameters.reject("static_position_covariance", "must have 9 numbers")
        super()._set_up(parameters, hardware)

    def _use(self, hardware: HardwareInterfaces, sources: Sequence[tuple[str, str]]) -> None:
        if self.covariance.is_measured:
            measured = [
                (f"position_covariance.{4 * at}", f"{interface}_covariance")
                for at, (_, interface) in enumerate(sources)
            ]
            sources = [*sources, *measured]
        super()._use(hardware, sources)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Pose:
    pose_name: str = setting("Name of the pose sensor")
    frame_id: str = setting("Frame of the messages")
    enable: bool = setting("Whether the pose is on /tf", True, parameter="tf.enable")
    child_frame_id: str = setting("Frame on /tf", "", parameter="tf.child_frame_id")


class PoseBroadcaster(SensorBroadcaster):
    """pose_broadcaster/PoseBroadcaster."""

    fields = (
        *_vector("pose.position", "position"),
        *_vector("pose.orientation", "orientation", "xyzw"),
    )

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = parameters.read(_Pose)
        self.frame = read.frame_id
        # Frame on /tf; empty if the pose is not on it
        self.child_frame = (read.child_frame_id or read.pose_name) if read.enable else ""
        self._use(hardware, [(path, f"{read.pose_name}/{kind}") for path, kind in self.fields])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Load:
    sensor_name: str = setting("Name of the sensor; empty for interface_names", "")
    frame_id: str = setting("Frame of the messages")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Axis:
    interface_name: str = setting("State interface", "", parameter="interface_names")
    offset: float = setting("Number that is added", 0.0)
    multiplier: float = setting("Factor after the offset", 1.0)


LOAD_FIELDS = tuple(f"wrench.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")


class ForceTorqueSensorBroadcaster(SensorBroadcaster):
    """force_torque_sensor_broadcaster/ForceTorqueSensorBroadcaster."""

    saved = ("filters.state",)

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        read = parameters.read(_Load)
        self.frame = read.frame_id
        sources, numbers = [], []
        for kind in ("force", "torque"):
            for axis in "xyz":
                own = f"{kind}.{axis}"
                each = parameters.read(_Axis, suffix=f".{own}")
                interface = each.interface_name
                if read.sensor_name:
                    interface = f"{read.sensor_name}/{own}"
                if interface:
                    sources.append((f"wrench.{own}", interface))
                    numbers.append((each.offset, each.multiplier))
        if not sources:
            raise parameters.reject("sensor_name", "is empty, and so are interface_names")
        self.filters = WrenchFilters(parameters, hardware, read.frame_id)
        if kinds := self.filters.unknown:
            self.warnings.append(
                "filters of sensor_filter_chain are unknown, so there is no ~/wrench_filtered: "
                f"{', '.join(kinds)}"
            )
        self._use(hardware, sources)
        self._offset, self._factor = np.array(numbers).T
        self.values = np.zeros(len(sources))  # with offset and multiplier
        self._places = [LOAD_FIELDS.index(path) for path in self.paths]
        self.filtered = np.full(6, np.nan)  # of all `LOAD_FIELDS`

    def activate(self) -> None:
        """Begin with the next wrench."""
        self.filters.reset()

    def update(self, time: float, period: float) -> None:
        self.values[:] = (self.states.read() + self._offset) * self._factor
        if self.filters:
            wrench = np.full(6, np.nan)
            wrench[self._places] = self.values
            self.filtered[:] = self.filters.apply(wrench)
