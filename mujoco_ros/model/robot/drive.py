"""The drive of a robot on wheels, as a controller of ros2_controllers with its parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi
from typing import Any

from mujoco_ros.model.robot.wheels import FoundWheel, Wheels, is_castor, is_mecanum

_DIFFERENTIAL = "diff_drive_controller/DiffDriveController"
_MECANUM = "mecanum_drive_controller/MecanumDriveController"
_OMNI = "omni_wheel_drive_controller/OmniWheelDriveController"
_WHEELS = "mujoco_ros/WheelDriveController"
_PLANAR = "mujoco_ros/PlanarDriveController"
_BICYCLE = "bicycle_steering_controller/BicycleSteeringController"
_TRICYCLE = "tricycle_steering_controller/TricycleSteeringController"
_ACKERMANN = "ackermann_steering_controller/AckermannSteeringController"
_STEERED_TRACTION = "tricycle_controller/TricycleController"
_NEAR = 5e-3  # lengths that are equal [m]
_PARALLEL = 0.1  # angles between parallel directions [rad]
_NOTABLE = 0.1  # share by which a length differs from the model

_FACTORS = {
    "wheel_separation_multiplier": "wheel_separation",
    "left_wheel_radius_multiplier": "wheel_radius",
    "right_wheel_radius_multiplier": "wheel_radius",
}
"""Factors of lengths in the parameters of diff_drive_controller."""

_SIGNS = {
    "traction_signs": "axles of driven wheels point to the right",
    "steering_signs": "axes of steering joints point downwards",
}
"""Parameters of this package for axes that ros2_controllers cannot have, and their meaning."""

PLANAR = ("_TX", "_TY", "_RZ")
"""Ends of the names of the joints that a planar joint of a URDF consists of, as in MuJoCo."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drive:
    """A controller that drives a robot by its wheels."""

    type: str  # as in the parameters of a controller_manager
    parameters: Mapping[str, Any]  # that follow from the geometry; by dotted name
    wheels: tuple[FoundWheel, ...]  # that it drives
    # Directions in which each does not slip, angles about z [rad]; empty for ordinary wheels
    grips: tuple[float, ...] = ()

    @property
    def moves_sideways(self) -> bool:
        """Whether it moves the robot in every direction."""
        return bool(self.grips) or self.type == _PLANAR

    def contradictions(self, kind: str, given: Mapping[str, Any]) -> list[str]:
        """Return where given parameters of a controller contradict the wheels of the model."""
        if kind in (_MECANUM, _OMNI) and not self.moves_sideways:
            return [
                "the wheels of the model roll as ordinary ones, so the robot does not move "
                "sideways; `drive: omnidirectional` of the robot in a scene gives them rollers"
            ]
        if kind != self.type:
            return []
        found = []
        for side, other in (("left", "right"), ("right", "left")):
            name = f"{side}_wheel_names"
            across = self.parameters.get(f"{other}_wheel_names", ())
            for joint in given.get(name) or ():
                if joint in across:
                    found.append(
                        f"{name} has '{joint}', which is on the {other}: the robot turns against "
                        "its odometry"
                    )
        for name in ("traction_joints_names", "steering_joints_names"):
            order = self.parameters.get(name, [])
            if len(order) == 2 and list(given.get(name) or ()) == order[::-1]:
                found.append(
                    f"{name} has '{order[1]}', which is on the left, before '{order[0]}': the "
                    "first one is the right one"
                )
        for name, what in _SIGNS.items():
            if name in self.parameters and name not in given:
                found.append(
                    f"{what}: the robot turns or drives against its odometry; "
                    f"{name} {self.parameters[name]} changes that"
                )
        for name, length in self.parameters.items():
            value = given.get(name)
            if name in _FACTORS or not (isinstance(length, float) and _is_number(value)):
                continue
            factors = [each for each, of in _FACTORS.items() if of == name]
            if name == "wheel_separation" and len(self.wheels) > 2:
                factors = []  # a calibration of wheels that skid in curves
            for factor in factors or [""]:
                used, true = (of.get(factor, 1.0) for of in (given, self.parameters))
                if abs(value * used - length * true) > _NOTABLE * abs(length):
                    with_factor = f"{name} with {factor}" if used != true else name
                    found.append(
                        f"{with_factor} is {_text(value * used)}, and {_text(length * true)} in "
                        "the model"
                    )
        return list(dict.fromkeys(found))

    def __str__(self) -> str:
        """Return type and parameters in one line."""
        values = ", ".join(f"{name} {_text(value)}" for name, value in self.parameters.items())
        return f"{self.type}: {values}"


def planar_drive(joint: str, parent: str, child: str) -> Drive:
    """Return the drive of a planar joint between two links."""
    return Drive(
        type=_PLANAR,
        parameters={
            "planar_joint": joint,
            "odom_frame_id": parent,
            "base_frame_id": child,
            "enable_odom_tf": False,  # TF has the joint anyway
        },
        wheels=(),
    )


class NoDriveError(ValueError):
    """The wheels of a robot are driven by no controller, for the reason of this error."""


def find_drive(found: Wheels, *, is_holonomic: bool = False) -> Drive:
    """Return the drive of a robot with wheels.

    Args:
        found: Its wheels.
        is_holonomic: Whether it can move in every direction, although its wheels look ordinary.

    Raises:
        NoDriveError: No controller fits its wheels.
    """
    rolling = [wheel for wheel in found.wheels if not is_castor(wheel)]
    grips: tuple[float, ...] = ()
    driven = sorted((w for w in rolling if w.is_driven), key=lambda w: (-w.position[0], w.joint))
    if not driven:
        raise NoDriveError("no actuator turns its wheels")
    if any(wheel.steering for wheel in rolling):
        kind, parameters = _steered(rolling, driven)
    elif is_holonomic or all(map(is_mecanum, driven)):
        driven, grips = _corners(driven)
        kind, parameters = _mecanum(driven, grips)
    elif all(_is_along(wheel.direction, 0.0) for wheel in driven):
        kind, parameters = _differential(driven)
    elif len(driven) > 2 and not all(
        _is_along(wheel.direction, driven[0].direction) for wheel in driven
    ):
        grips = tuple(wheel.direction for wheel in driven)
        kind, parameters = _WHEELS, _geometry(driven, grips)
    else:
        raise NoDriveError(
            "its wheels roll sideways in its base frame, whose x axis points forwards"
        )
    return Drive(type=kind, parameters=parameters, wheels=tuple(driven), grips=grips)


def _differential(driven: Sequence[FoundWheel]) -> tuple[str, dict[str, Any]]:
    left = [wheel for wheel in driven if wheel.position[1] > _NEAR]
    right = [wheel for wheel in driven if wheel.position[1] < -_NEAR]
    if not (left and right):
        raise NoDriveError("its driven wheels are all on one side")
    offset = _mean([wheel.position[0] for wheel in driven])
    radius = _mean([wheel.radius for wheel in driven])
    factors = [_common([_sign(w) * w.radius / radius for w in side]) for side in (left, right)]
    widths = [_common([abs(w.position[1]) for w in side]) for side in (left, right)]
    is_simple = len(left) == len(right) and abs(offset) < _NEAR and None not in (*factors, *widths)
    if not is_simple:
        return _WHEELS, _geometry(driven, [w.direction for w in driven]) | {"fixed_axle": True}
    parameters: dict[str, Any] = {
        "left_wheel_names": _names(left),
        "right_wheel_names": _names(right),
        "wheel_separation": sum(width or 0.0 for width in widths),
        "wheel_radius": radius,
    }
    for side, factor in zip(("left", "right"), factors, strict=True):
        if factor is not None and abs(factor - 1.0) > 0.01:
            parameters[f"{side}_wheel_radius_multiplier"] = factor
    return _DIFFERENTIAL, parameters


_STANDARD = (-1, 1, -1, 1)
"""Signs of the grips of mecanum wheels whose rollers form an X at the ground, seen from above."""


def _corners(driven: Sequence[FoundWheel]) -> tuple[list[FoundWheel], tuple[float, ...]]:
    """Return mecanum wheels in the order of ros2_controllers, and their grips [rad]."""
    x0, y0 = (_mean([wheel.position[axis] for wheel in driven]) for axis in (0, 1))
    corners = {(w.position[0] > x0, w.position[1] > y0): w for w in driven}
    if len(driven) != 4 or len(corners) != 4:
        raise NoDriveError("mecanum wheels need one at each of four corners")
    order = ((True, True), (True, False), (False, False), (False, True))
    wheels = [corners[key] for key in order]
    return wheels, tuple(
        sign * pi / 4
        if wheel.roller_angle is None
        else (wheel.direction + wheel.roller_angle + pi) % pi - pi / 2
        for wheel, sign in zip(wheels, _STANDARD, strict=True)
    )


def _mecanum(wheels: Sequence[FoundWheel], grips: Sequence[float]) -> tuple[str, dict[str, Any]]:
    usual = all(
        _is_along(grip, sign * pi / 4) and cos(wheel.direction) > 0
        for wheel, grip, sign in zip(wheels, grips, _STANDARD, strict=True)
    )
    middle = [_mean([wheel.position[axis] for wheel in wheels]) for axis in (0, 1)]
    reach = [_common([abs(w.position[i] - middle[i]) for w in wheels]) for i in (0, 1)]
    if not usual or None in reach or hypot(*middle) > _NEAR:
        return _WHEELS, _geometry(wheels, grips)
    names = ("front_left", "front_right", "rear_right", "rear_left")
    joints = {
        f"{name}_wheel_command_joint_name": wheel.joint
        for name, wheel in zip(names, wheels, strict=True)
    }
    return _MECANUM, joints | {
        "kinematics.wheels_radius": _mean([wheel.radius for wheel in wheels]),
        "kinematics.sum_of_robot_center_projection_on_X_Y_axis": sum(r or 0.0 for r in reach),
        "reference_timeout": 0.5,
    }


def _steered(
    rolling: Sequence[FoundWheel], driven: Sequence[FoundWheel]
) -> tuple[str, dict[str, Any]]:
    steered = sorted((w for w in rolling if w.steering), key=lambda wheel: wheel.position[1])
    fixed = [wheel for wheel in rolling if not wheel.steering]
    steering = list(dict.fromkeys(wheel.steering for wheel in steered))
    axle = _mean([wheel.position[0] for wheel in fixed]) if fixed else 0.0
    wheelbase = abs(_mean([wheel.position[0] for wheel in steered]) - axle)
    if not fixed or len(steering) > 2 or wheelbase < _NEAR:
        raise NoDriveError(
            f"steering by {', '.join(steering)} fits no controller of ros2_controllers"
        )
    if len(driven) == len(steered) == 1 and driven[0].steering:
        return _STEERED_TRACTION, _signs(driven, steered) | {
            "traction_joint_name": driven[0].joint,
            "steering_joint_name": steering[0],
            "wheelbase": wheelbase,
            "wheel_radius": driven[0].radius,
            "enable_odom_tf": True,
        }
    traction = sorted((w for w in driven if not w.steering), key=lambda wheel: wheel.position[1])
    if len(traction) not in (1, 2):
        raise NoDriveError("steering needs one or two driven wheels that do not steer")
    radius = _mean([wheel.radius for wheel in traction])
    parameters: dict[str, Any] = {
        "traction_joints_names": _names(traction),
        "steering_joints_names": steering,
        "wheelbase": wheelbase,
    } | _signs(traction, [next(w for w in steered if w.steering == joint) for joint in steering])
    if len(traction) == 1:
        return _BICYCLE, parameters | {"traction_wheel_radius": radius}
    parameters |= {
        "traction_wheels_radius": radius,
        "traction_track_width": traction[1].position[1] - traction[0].position[1],
    }
    if len(steering) == 1:
        return _TRICYCLE, parameters
    track = steered[-1].position[1] - steered[0].position[1]
    return _ACKERMANN, parameters | {"steering_track_width": track}


def _signs(driven: Sequence[FoundWheel], steered: Sequence[FoundWheel]) -> dict[str, Any]:
    """Return the signs of axes that do not all point to the left, and upwards."""
    signs = {
        "traction_signs": [_sign(wheel) for wheel in driven],
        "steering_signs": [wheel.steering_sign for wheel in steered],
    }
    return {name: values for name, values in signs.items() if -1.0 in values}


def _geometry(wheels: Sequence[FoundWheel], grips: Sequence[float]) -> dict[str, Any]:
    return {
        "wheel_names": _names(wheels),
        "wheel_x": [wheel.position[0] for wheel in wheels],
        "wheel_y": [wheel.position[1] for wheel in wheels],
        "wheel_radii": [wheel.radius for wheel in wheels],
        "wheel_directions": [wheel.direction for wheel in wheels],
        "wheel_grips": list(grips),
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _names(wheels: Sequence[FoundWheel]) -> list[str]:
    return [wheel.joint for wheel in wheels]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _common(values: Sequence[float]) -> float | None:
    """Return the mean of values that are equal, else None."""
    mean = _mean(values)
    return mean if all(abs(value - mean) < 0.02 * abs(mean) for value in values) else None


def _sign(wheel: FoundWheel) -> float:
    return 1.0 if cos(wheel.direction) > 0 else -1.0


def _is_along(angle: float, other: float) -> bool:
    """Return whether two directions are parallel or opposite."""
    return abs((angle - other + pi / 2) % pi - pi / 2) < _PARALLEL


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"  # not -0
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)
