"""The drives of ros2_controllers: their parameters, and the kinematics that follow from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from mujoco_ros.control.settings import setting
from mujoco_ros.ros2_control.drive.drive_controller import (
    DriveController,
    DriveSetup,
    read_limits,
)
from mujoco_ros.ros2_control.drive.kinematics import (
    PlanarJoint,
    RollingWheels,
    Wheel,
    differential,
    mecanum,
    omni,
)
from mujoco_ros.ros2_control.drive.limits import SpeedLimiter, SpeedLimits
from mujoco_ros.ros2_control.drive.steering_types import (
    REFERENCE_TOPICS,
    AckermannSteeringController,
    BicycleSteeringController,
    Reference,
    TricycleController,
    TricycleSteeringController,
    length,
)
from mujoco_ros.ros2_control.drive.velocity_command import VelocityCommand
from mujoco_ros.ros2_control.parameters import ControllerParameters

_LONGEST_S = 1e6
_LINEAR_AND_ANGULAR = ("linear/x/velocity", "linear/y/velocity", "angular/z/velocity")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Timeout:
    cmd_vel_timeout: float = setting(
        "Age of the oldest command [s]; 0 for any", 0.5, high=_LONGEST_S
    )
    publish_limited_velocity: bool = setting("Whether there is a topic of limited commands", False)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Differential(_Timeout):
    left_wheel_names: tuple[str, ...] = setting("Joints of the left wheels")
    right_wheel_names: tuple[str, ...] = setting("Joints of the right wheels")
    wheel_separation: float = length("Distance between left and right wheels [m]")
    wheel_radius: float = length("Radius of the wheels [m]")
    wheel_separation_multiplier: float = setting("Correction of the separation", 1.0)
    left_wheel_radius_multiplier: float = setting("Correction of the left radius", 1.0)
    right_wheel_radius_multiplier: float = setting("Correction of the right radius", 1.0)


class DiffDriveController(DriveController):
    """diff_drive_controller/DiffDriveController."""

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        read = parameters.read(_Differential)
        left, right = read.left_wheel_names, read.right_wheel_names
        for name, wheels in (("left_wheel_names", left), ("right_wheel_names", right)):
            if not wheels:
                raise parameters.reject(name, "is empty")
        if len(left) != len(right):
            raise parameters.reject(
                "right_wheel_names", f"has {len(right)} joints, but left_wheel_names {len(left)}"
            )
        left_radius = read.wheel_radius * read.left_wheel_radius_multiplier
        right_radius = read.wheel_radius * read.right_wheel_radius_multiplier
        self.publishes_limited = read.publish_limited_velocity
        return DriveSetup(
            kinematics=differential(
                [left_radius] * len(left),
                [right_radius] * len(right),
                read.wheel_separation * read.wheel_separation_multiplier,
            ),
            traction=(*left, *right),
            command=VelocityCommand(read.cmd_vel_timeout),
            limiters=_limiters(parameters, y=False),
        )


def _limiters(parameters: ControllerParameters, *, y: bool) -> list[SpeedLimiter]:
    side = read_limits(parameters, "linear.y") if y else SpeedLimiter(SpeedLimits())
    return [read_limits(parameters, "linear.x"), side, read_limits(parameters, "angular.z")]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wheels(_Timeout):
    wheel_names: tuple[str, ...] = setting("Joints of the wheels")
    wheel_x: tuple[float, ...] = setting("Where they are in the base frame [m]")
    wheel_y: tuple[float, ...] = setting("Where they are in the base frame [m]")
    wheel_radii: tuple[float, ...] = setting("Their radii [m]")
    wheel_directions: tuple[float, ...] = setting("Angles of the directions they roll in [rad]")
    wheel_grips: tuple[float, ...] = setting("Angles of the directions they do not slip in [rad]")
    fixed_axle: bool = setting("Whether nothing moves along their common axle", False)


class WheelDriveController(DriveController):
    """mujoco_ros/WheelDriveController: wheels at any place, of which the geometry is known."""

    references_of_twist = _LINEAR_AND_ANGULAR

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        read = parameters.read(_Wheels)
        places = read.wheel_x, read.wheel_y
        arrays = (*places, read.wheel_radii, read.wheel_directions, read.wheel_grips)
        if any(len(values) != len(read.wheel_names) for values in arrays):
            raise parameters.reject("wheel_names", "needs one number for each wheel")
        wheels = [
            Wheel(position=(x, y), radius=radius, direction=direction, grip=grip)
            for x, y, radius, direction, grip in zip(*arrays, strict=True)
        ]
        axle = sum(read.wheel_x) / len(read.wheel_x) if read.fixed_axle else None
        self.publishes_limited = read.publish_limited_velocity
        return DriveSetup(
            kinematics=RollingWheels(wheels, axle=axle),
            traction=read.wheel_names,
            command=VelocityCommand(read.cmd_vel_timeout),
            limiters=_limiters(parameters, y=True),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Planar(_Timeout):
    planar_joint: str = setting("The joint, which consists of <joint>_TX, _TY and _RZ")


class PlanarDriveController(DriveController):
    """mujoco_ros/PlanarDriveController: a planar joint; its odometry is where the joint is."""

    references_of_twist = _LINEAR_AND_ANGULAR

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        read = parameters.read(_Planar)
        joints = [f"{read.planar_joint}_{part}" for part in ("TX", "TY", "RZ")]
        self.publishes_limited = read.publish_limited_velocity
        return DriveSetup(
            kinematics=PlanarJoint(),
            traction=joints,
            steering_states=joints[2:],
            command=VelocityCommand(read.cmd_vel_timeout),
            limiters=_limiters(parameters, y=True),
        )

    def _integrate(
        self, speeds: Sequence[float] | None, angles: Sequence[float], period: float
    ) -> None:
        super()._integrate(speeds, angles, period)
        if not self.settings.open_loop and self._positions is not None:
            self.odometry.x, self.odometry.y, self.odometry.heading = self._positions


@dataclass(frozen=True, kw_only=True, slots=True)
class _Omni(_Timeout):
    wheel_offset: float = setting("Angle of the first wheel from the x axis [rad]", 0.0)
    wheel_names: tuple[str, ...] = setting("Joints of the wheels, counter-clockwise")
    robot_radius: float = length("Distance of the wheels from the centre [m]")
    wheel_radius: float = length("Radius of the wheels [m]")
    pose: tuple[float, ...] = setting(
        "Variances of the pose", (0.0,) * 6, parameter="diagonal_covariance.pose"
    )
    twist: tuple[float, ...] = setting(
        "Variances of the velocity", (0.0,) * 6, parameter="diagonal_covariance.twist"
    )


class OmniWheelDriveController(DriveController):
    """omni_wheel_drive_controller/OmniWheelDriveController."""

    references_of_twist = _LINEAR_AND_ANGULAR

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        read = parameters.read(_Omni)
        if len(read.wheel_names) < 3:
            raise parameters.reject("wheel_names", "needs at least 3 wheels")
        self.settings = replace(
            self.settings, pose_covariance_diagonal=read.pose, twist_covariance_diagonal=read.twist
        )
        return DriveSetup(
            kinematics=omni(
                len(read.wheel_names), read.wheel_radius, read.robot_radius, read.wheel_offset
            ),
            traction=read.wheel_names,
            command=VelocityCommand(read.cmd_vel_timeout),
        )


_CORNERS = ("front_left", "front_right", "rear_right", "rear_left")
_OFFSET = "kinematics.base_frame_offset"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mecanum(Reference):
    x: float = setting("Base frame between the wheels [m]", 0.0, parameter=f"{_OFFSET}.x")
    y: float = setting("Base frame between the wheels [m]", 0.0, parameter=f"{_OFFSET}.y")
    theta: float = setting("Turn of the base frame [rad]", 0.0, parameter=f"{_OFFSET}.theta")
    radius: float = length("Radius of the wheels [m]", "kinematics.wheels_radius")
    reach: float = length(
        "Half the wheelbase and half the track [m]",
        "kinematics.sum_of_robot_center_projection_on_X_Y_axis",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _MecanumWheel:
    command: str = setting("Joint of the wheel", parameter="command_joint_name")
    state: str = setting("Joint that measures it", "", parameter="state_joint_name")


class MecanumDriveController(DriveController):
    """mecanum_drive_controller/MecanumDriveController."""

    topics = REFERENCE_TOPICS
    references_of_twist = _LINEAR_AND_ANGULAR
    stops_at_once = True
    defaults: ClassVar[dict[str, Any]] = {
        "position_feedback": False,
        "velocity_rolling_window_size": 1,
        "pose_covariance_diagonal": (0.1,) * 6,
        "twist_covariance_diagonal": (0.1,) * 6,
    }

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        read = parameters.read(_Mecanum)
        wheels = [parameters.read(_MecanumWheel, f"{corner}_wheel_") for corner in _CORNERS]
        return DriveSetup(
            kinematics=mecanum(read.radius, read.reach, (read.x, read.y, read.theta)),
            traction=[wheel.command for wheel in wheels],
            traction_states=[wheel.state or wheel.command for wheel in wheels],
            command=VelocityCommand(read.reference_timeout, is_kept_without_timeout=False),
            limiters=_limiters(parameters, y=True),
        )


DRIVE_TYPES: Mapping[str, type[DriveController]] = {
    "diff_drive_controller/DiffDriveController": DiffDriveController,
    "mecanum_drive_controller/MecanumDriveController": MecanumDriveController,
    "omni_wheel_drive_controller/OmniWheelDriveController": OmniWheelDriveController,
    "tricycle_controller/TricycleController": TricycleController,
    "bicycle_steering_controller/BicycleSteeringController": BicycleSteeringController,
    "tricycle_steering_controller/TricycleSteeringController": TricycleSteeringController,
    "ackermann_steering_controller/AckermannSteeringController": AckermannSteeringController,
    "mujoco_ros/WheelDriveController": WheelDriveController,
    "mujoco_ros/PlanarDriveController": PlanarDriveController,
}
"""Drives by type."""
