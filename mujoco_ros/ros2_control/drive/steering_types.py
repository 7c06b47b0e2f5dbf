"""Drives of ros2_controllers that steer: their parameters, and the kinematics that follow."""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, replace
from math import isnan, pi
from typing import Any, ClassVar

from mujoco_ros.control.settings import setting
from mujoco_ros.model.strict import convert
from mujoco_ros.ros2_control.drive.drive_controller import (
    DriveController,
    DriveSetup,
    DriveTopics,
)
from mujoco_ros.ros2_control.drive.kinematics import (
    SignedAxes,
    SteeredAxle,
    SteeredTraction,
    Twist,
)
from mujoco_ros.ros2_control.drive.limits import MagnitudeLimiter
from mujoco_ros.ros2_control.drive.limits import magnitude_bounds as bounds
from mujoco_ros.ros2_control.drive.velocity_command import VelocityCommand
from mujoco_ros.ros2_control.parameters import ControllerParameters

_LARGEST_M, _LONGEST_S = 100.0, 1e6
REFERENCE_TOPICS = DriveTopics(
    command="~/reference", odometry="~/odometry", transform="~/tf_odometry"
)


def length(description: str, parameter: str = "", low: float = 1e-6) -> Any:
    """Return a length above zero [m], which is required; with a `low` of 0, zero by default."""
    default = MISSING if low else 0.0
    return setting(description, default, low=low, high=_LARGEST_M, parameter=parameter)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reference:
    """Parameters of all types that take references."""

    reference_timeout: float = setting(
        "Age of the oldest reference [s]; 0 uses each for one step", 0.0, high=_LONGEST_S
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Signs:
    traction_signs: tuple[float, ...] = setting("Signs of the speeds of driven wheels, 1 or -1", ())
    steering_signs: tuple[float, ...] = setting("Signs of the steering angles, 1 or -1", ())


def _signed(parameters: ControllerParameters, setup: DriveSetup) -> DriveSetup:
    """Return the drive with the signs of a robot whose axes point to the right, or downwards."""
    read, signs = parameters.read(_Signs), []
    for name, joints in (("traction_signs", setup.traction), ("steering_signs", setup.steering)):
        values = getattr(read, name) or (1.0,) * len(joints)
        if len(values) != len(joints) or {*values} - {1.0, -1.0}:
            raise parameters.reject(name, f"must be {len(joints)} times 1 or -1")
        signs.append(values)
    if not (read.traction_signs or read.steering_signs):
        return setup
    return replace(setup, kinematics=SignedAxes(setup.kinematics, *signs))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tricycle:
    traction_joint_name: str = setting("Joint of the driven wheel")
    steering_joint_name: str = setting("Joint that steers it")
    wheelbase: float = length("Distance from the driven wheel to the axle [m]")
    wheel_radius: float = length("Radius of the driven wheel [m]")
    cmd_vel_timeout: int = setting("Age of the oldest command [ms]", 500)


class TricycleController(DriveController):
    """tricycle_controller/TricycleController: one wheel is driven and steered."""

    saved = ("_traction_limiter", "_steering_limiter")
    references_of_twist = ()
    defaults: ClassVar[dict[str, Any]] = {"enable_odom_tf": False, "position_feedback": False}
    without_meaning = ("publish_rate", "odom_only_twist", "publish_ackermann_command")

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        read = parameters.read(_Tricycle)
        traction, steering = _given(parameters, "traction."), _given(parameters, "steering.")
        self._traction_limiter = MagnitudeLimiter(
            value=bounds(traction, "velocity"),
            rising=bounds(traction, "acceleration"),
            falling=bounds(traction, "deceleration"),
            change=bounds(traction, "jerk"),
        )
        rates, high = bounds(steering, "velocity"), steering.get("max_position", pi)
        self._steering_limiter = MagnitudeLimiter(
            value=(steering.get("min_position", -high), high),
            rising=rates,
            falling=rates,
            change=bounds(steering, "acceleration"),
            is_signed=True,
        )
        setup = DriveSetup(
            kinematics=SteeredTraction(read.wheelbase, read.wheel_radius),
            traction=(read.traction_joint_name,),
            steering=(read.steering_joint_name,),
            command=VelocityCommand(read.cmd_vel_timeout / 1000.0),
        )
        return _signed(parameters, setup)

    def activate(self) -> None:
        """Begin at rest, and straight ahead."""
        super().activate()
        self._traction_limiter.reset()
        self._steering_limiter.reset()

    def _write(self, wanted: Twist | None, angles: Sequence[float], period: float) -> None:
        (speed,), (angle,) = self._setup.kinematics.command(self.limited, angles)
        self._commands.values[0] = self._traction_limiter.limit(speed, period)
        self._commands.values[1] = self._steering_limiter.limit(angle, period)
        self._commands.write()


def _given(parameters: ControllerParameters, prefix: str) -> dict[str, float]:
    """Return the limits below a prefix by their names; NaN is none."""
    found = {
        name: convert(float, value, f"{parameters.where}: parameter '{prefix}{name}'")
        for name, value in parameters.given(prefix).items()
        if not (isinstance(value, float) and isnan(value))
    }
    parameters.ignore(*(f"{prefix}{name}" for name in found))
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class _Steering(Reference):
    traction_joints_names: tuple[str, ...] = setting("Joints of the driven wheels: right, left")
    steering_joints_names: tuple[str, ...] = setting("Joints that steer: right, left")
    traction_joints_state_names: tuple[str, ...] = setting("Joints that measure the wheels", ())
    steering_joints_state_names: tuple[str, ...] = setting("Joints that measure the steering", ())
    reduce_wheel_speed_until_steering_reached: bool = setting(
        "Whether the wheels are slow until the steering has its angle", False
    )
    wheelbase: float = length("Distance between the axles [m]")
    traction_wheel_radius: float = length("Radius of the driven wheel [m]", low=0.0)
    traction_wheels_radius: float = length("Radius of the driven wheels [m]", low=0.0)
    traction_track_width: float = length("Distance of the driven wheels [m]", low=0.0)
    steering_track_width: float = length("Distance of the steered wheels [m]", low=0.0)


_FORMER_STEERING = {
    "traction_joints_names": "{driven}_wheels_names",
    "steering_joints_names": "{steered}_wheels_names",
    "traction_joints_state_names": "{driven}_wheels_state_names",
    "steering_joints_state_names": "{steered}_wheels_state_names",
    "traction_wheel_radius": "{driven}_wheel_radius",
    "traction_wheels_radius": "{driven}_wheels_radius",
    "traction_track_width": "{driven}_wheel_track",
    "steering_track_width": "{steered}_wheel_track",
}
"""Names of ros2_controllers until Jazzy, of axles at the front and at the rear."""


def _rename_former(parameters: ControllerParameters) -> None:
    """Give parameters the present names; the former ones of the other axle mean nothing."""
    values = parameters.values
    is_front = convert(
        bool, values.get("front_steering", True), f"{parameters.where}: parameter 'front_steering'"
    )
    driven, steered = ("rear", "front") if is_front else ("front", "rear")
    former = {
        name: old.format(driven=driven, steered=steered) for name, old in _FORMER_STEERING.items()
    }
    for name, old in (*former.items(), ("traction_track_width", "wheel_track")):
        if old in values:
            values.setdefault(name, values[old])
            parameters.ignore(old)
    parameters.ignore("front_steering", f"{steered}_wheel_radius", f"{steered}_wheels_radius")


class BicycleSteeringController(DriveController):
    """bicycle_steering_controller/BicycleSteeringController."""

    topics = REFERENCE_TOPICS
    stops_at_once = True
    defaults: ClassVar[dict[str, Any]] = {
        "position_feedback": False,
        "tf_frame_prefix_enable": False,
        "pose_covariance_diagonal": (0.0, 7.0, 14.0, 21.0, 28.0, 35.0),
        "twist_covariance_diagonal": (0.0, 7.0, 14.0, 21.0, 28.0, 35.0),
    }
    radius_parameter = "traction_wheel_radius"
    counts = (1, 1)  # of driven wheels and of steering joints

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        _rename_former(parameters)
        read = parameters.read(_Steering, defaults={"reference_timeout": 1.0})
        driven, steered = self.counts
        for name, count in (("traction_joints_names", driven), ("steering_joints_names", steered)):
            if len(getattr(read, name)) != count:
                raise parameters.reject(name, f"must have {count} joints, right before left")
        radius, track = getattr(read, self.radius_parameter), read.traction_track_width
        for name, length in ((self.radius_parameter, radius), ("traction_track_width", track)):
            if not length and (driven == 2 or name == self.radius_parameter):
                raise parameters.reject(name, "is missing; it is more than 0")
        setup = DriveSetup(
            kinematics=SteeredAxle(
                wheelbase=read.wheelbase,
                radius=radius,
                traction_track=track if driven == 2 else None,
                steering_track=(read.steering_track_width or track) if steered == 2 else None,
                waits_for_steering=read.reduce_wheel_speed_until_steering_reached,
                open_loop=self.settings.open_loop,
            ),
            traction=read.traction_joints_names,
            steering=read.steering_joints_names,
            traction_states=read.traction_joints_state_names,
            steering_states=read.steering_joints_state_names,
            command=VelocityCommand(read.reference_timeout, is_kept_without_timeout=False),
        )
        return _signed(parameters, setup)


class TricycleSteeringController(BicycleSteeringController):
    """tricycle_steering_controller/TricycleSteeringController: two driven wheels, one steered."""

    radius_parameter = "traction_wheels_radius"
    counts = (2, 1)


class AckermannSteeringController(TricycleSteeringController):
    """ackermann_steering_controller/AckermannSteeringController."""

    counts = (2, 2)
