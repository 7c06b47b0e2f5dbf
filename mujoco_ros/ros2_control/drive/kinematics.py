"""Kinematics of wheeled robots: from a velocity of the robot to its wheels, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, atan2, copysign, cos, pi, sin, tan
from operator import mul
from typing import NamedTuple, Protocol

import numpy as np

from mujoco_ros.model.errors import UserInputError


class Twist(NamedTuple):
    """A planar velocity of the base frame, in this frame: forwards and left [m/s], turn [rad/s]."""

    x: float = 0.0
    y: float = 0.0
    turn: float = 0.0


class WheelKinematics(Protocol):
    """The wheels of a robot: speeds of driven ones [rad/s], angles of steered ones [rad]."""

    def command(self, twist: Twist, angles: Sequence[float]) -> tuple[Sequence[float], ...]:
        """Return the speeds and angles that yield a velocity; `angles` are the measured ones."""

    def measure(self, speeds: Sequence[float], angles: Sequence[float]) -> Twist:
        """Return the velocity of measured speeds and angles."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wheel:
    """A wheel on an axle that does not steer, in the base frame.

    The wheel does not slip along `grip`, a horizontal direction: across the axle for an ordinary
    or omni wheel, along the axle of the roller that touches the ground for a mecanum wheel.
    """

    position: tuple[float, float]  # of the contact [m]
    radius: float  # [m]
    direction: float = 0.0  # in which it rolls at a positive speed, as an angle about z [rad]
    grip: float | None = None  # angle about z [rad]; None for `direction`


class RollingWheels:
    """Wheels that roll without slip along one direction each.

    With more wheels than the ground permits velocities, as on four wheels with a differential
    drive, the measured velocity fits all wheels best.
    """

    def __init__(self, wheels: Sequence[Wheel], *, axle: float | None = None) -> None:
        """Find what the wheels can do.

        Args:
            wheels: The driven wheels.
            axle: Where the axle of a differential drive is on the x axis [m]: nothing moves along
                it. None for wheels that can move in every direction.
        """
        # Plain numbers, because for so few NumPy would take longer.
        self._rows = [_row(wheel) for wheel in wheels]
        rows = [*self._rows, *([] if axle is None else [(0.0, 1.0, axle)])]
        if np.linalg.matrix_rank(rows) < 3:
            raise UserInputError(
                "these wheels do not determine how the robot moves: "
                + "; ".join(f"at {w.position} rolling at {w.direction:.3g} rad" for w in wheels)
            )
        self._inverse = np.linalg.pinv(rows)[:, : len(wheels)].tolist()
        # A differential drive cannot move along its axle, where a turn is about a point.
        self._axle = axle

    def command(self, twist: Twist, _angles: Sequence[float]) -> tuple[Sequence[float], ...]:
        """Return the speeds of the wheels."""
        x, y, turn = twist
        if self._axle is not None:
            y = -self._axle * turn
        return [ahead * x + left * y + about * turn for ahead, left, about in self._rows], ()

    def measure(self, speeds: Sequence[float], _angles: Sequence[float]) -> Twist:
        """Return the velocity that fits the speeds best."""
        x, y, turn = self._inverse
        return Twist(
            sum(map(mul, x, speeds)), sum(map(mul, y, speeds)), sum(map(mul, turn, speeds))
        )


def _row(wheel: Wheel) -> tuple[float, float, float]:
    """Return the speed of a wheel for each component of a velocity [rad/s]."""
    grip = wheel.direction if wheel.grip is None else wheel.grip
    x, y = cos(grip), sin(grip)
    along = wheel.radius * cos(grip - wheel.direction)
    if abs(along) < 1e-6:
        raise UserInputError(
            f"the wheel at {wheel.position} cannot move the robot: its radius is "
            f"{wheel.radius:g} m and it rolls at a right angle to where it grips the ground"
        )
    px, py = wheel.position
    return x / along, y / along, (px * y - py * x) / along


def differential(left: Sequence[float], right: Sequence[float], separation: float) -> RollingWheels:
    """Return a differential drive from the radii of its left and right wheels [m].

    `separation` is the distance between the sides [m].
    """
    sides = ((0.5 * separation, left), (-0.5 * separation, right))
    wheels = [Wheel(position=(0.0, y), radius=radius) for y, radii in sides for radius in radii]
    return RollingWheels(wheels, axle=0.0)


def mecanum(
    radius: float, reach: float, offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> RollingWheels:
    """Return four mecanum wheels: front left, front right, rear right, rear left.

    `reach` is the sum of half the wheelbase and half the track [m]; `offset` is the pose of the
    base frame in the frame in the middle of the wheels [m, m, rad].
    """
    x0, y0, turn = offset

    def moved(x: float, y: float) -> tuple[float, float]:
        """Return a point of the middle frame in the base frame."""
        x, y = x - x0, y - y0
        return cos(turn) * x + sin(turn) * y, cos(turn) * y - sin(turn) * x

    # Only the sum of both distances matters.
    half = 0.5 * reach
    corners = ((half, half, -1), (half, -half, 1), (-half, -half, -1), (-half, half, 1))
    return RollingWheels(
        [
            Wheel(position=moved(x, y), radius=radius, direction=-turn, grip=sign * pi / 4 - turn)
            for x, y, sign in corners
        ]
    )


def omni(count: int, radius: float, robot_radius: float, offset: float = 0.0) -> RollingWheels:
    """Return omni wheels, counter-clockwise on a circle of `robot_radius` [m].

    The first one is at the angle `offset` from the x axis [rad]. A positive speed drives clockwise.
    """
    angles = [offset + 2.0 * pi * index / count for index in range(count)]
    return RollingWheels(
        [
            Wheel(
                position=(robot_radius * cos(angle), robot_radius * sin(angle)),
                radius=radius,
                direction=angle - pi / 2,
            )
            for angle in angles
        ]
    )


class SteeredTraction:
    """One wheel that is driven and steered, ahead of an axle: tricycle_controller."""

    def __init__(self, wheelbase: float, radius: float) -> None:
        """Set the distance from the axle and the radius of the wheel [m]."""
        self._wheelbase, self._radius = wheelbase, radius

    def command(self, twist: Twist, angles: Sequence[float]) -> tuple[Sequence[float], ...]:
        """Return speed and angle; the wheel is slow until it has about its angle."""
        x, turn = twist.x, twist.turn
        if x == 0.0 and turn != 0.0:
            angle, speed = copysign(pi / 2, turn), abs(turn) * self._wheelbase / self._radius
        else:
            angle = atan(turn * self._wheelbase / x) if x and turn else 0.0
            speed = x / (self._radius * cos(angle))
        error = abs(angle - angles[0])
        if error > pi / 2:
            speed *= 0.01
        elif error >= pi / 6:
            speed *= cos(error)
        return (speed,), (angle,)

    def measure(self, speeds: Sequence[float], angles: Sequence[float]) -> Twist:
        """Return the velocity of the middle of the axle."""
        speed, angle = speeds[0] * self._radius, angles[0]
        return Twist(speed * cos(angle), 0.0, speed * sin(angle) / self._wheelbase)


class SteeredAxle:
    """A driven axle and a steered one ahead of it, with one or two wheels each, right before left.

    The base frame is in the middle of the driven axle: bicycle, tricycle and Ackermann steering.
    """

    _SLOW_FROM, _SLOWEST_FROM = pi / 6, 1.5608  # as in steering_controllers_library [rad]

    def __init__(
        self,
        *,
        wheelbase: float,
        radius: float,
        traction_track: float | None = None,
        steering_track: float | None = None,
        waits_for_steering: bool = False,
        open_loop: bool = False,
    ) -> None:
        """Set the geometry [m]; a track of None is one wheel.

        Args:
            wheelbase: Distance between the axles.
            radius: Radius of the driven wheels.
            traction_track: Distance of the driven wheels.
            steering_track: Distance of the steered wheels.
            waits_for_steering: Whether the wheels are slow until the steering has its angle.
            open_loop: Whether the speeds of the wheels are for the commanded steering angle, not
                the measured one.
        """
        self._wheelbase, self._radius = wheelbase, radius
        self._traction, self._steering = traction_track, steering_track
        self._waits, self._open_loop = waits_for_steering, open_loop

    def command(self, twist: Twist, angles: Sequence[float]) -> tuple[Sequence[float], ...]:
        """Return the speeds and angles of the wheels."""
        x, turn = twist.x, twist.turn
        angle = atan(turn * self._wheelbase / x) if x else copysign(pi / 2, turn) if turn else 0.0
        present = angle if self._open_loop else self._middle(angles)
        speed = x / self._radius
        if self._waits and not self._open_loop:
            error = abs(present - angle)
            if error >= self._SLOW_FROM:
                speed *= cos(min(error, self._SLOWEST_FROM)) / cos(self._SLOW_FROM)
        speeds: Sequence[float] = (speed,)
        if self._traction is not None:
            difference = 0.5 * self._traction * tan(present) / self._wheelbase
            speeds = speed * (1.0 + difference), speed * (1.0 - difference)
        return speeds, self._steer(angle)

    def _steer(self, angle: float) -> Sequence[float]:
        if self._steering is None:
            return (angle,)
        y, x, half = self._wheelbase * sin(angle), self._wheelbase * cos(angle), self._steering / 2
        return tuple(atan2(y, x + side * half * sin(angle)) for side in (1.0, -1.0))

    def _middle(self, angles: Sequence[float]) -> float:
        """Return the steering angle in the middle of the axle."""
        if self._steering is None:
            return angles[0]
        found = 0.0
        for angle, side in zip(angles, (-1.0, 1.0), strict=True):
            slope, half = tan(angle), 0.5 * self._steering
            found += atan(self._wheelbase * slope / (self._wheelbase + side * half * slope))
        return 0.5 * found

    def measure(self, speeds: Sequence[float], angles: Sequence[float]) -> Twist:
        """Return the velocity of the middle of the driven axle."""
        slope = tan(self._middle(angles))
        if self._traction is None:
            forwards = speeds[0] * self._radius
        else:
            difference = 0.5 * self._traction * slope / self._wheelbase
            right, left = speeds
            forwards = 0.5 * self._radius * (right / (1.0 + difference) + left / (1.0 - difference))
        return Twist(forwards, 0.0, slope * forwards / self._wheelbase)


class PlanarJoint:
    """A joint that moves a base along x and y of the floor, and about z."""

    def command(self, twist: Twist, angles: Sequence[float]) -> tuple[Sequence[float], ...]:
        """Return the velocities along x and y of the floor and about z."""
        c, s = cos(angles[0]), sin(angles[0])
        return (c * twist.x - s * twist.y, s * twist.x + c * twist.y, twist.turn), ()

    def measure(self, speeds: Sequence[float], angles: Sequence[float]) -> Twist:
        """Return the velocity in the frame of the base."""
        (x, y, turn), c, s = speeds, cos(angles[0]), sin(angles[0])
        return Twist(c * x + s * y, c * y - s * x, turn)


class SignedAxes:
    """Kinematics of wheels and steering joints with axes that point to the right, or downwards."""

    def __init__(
        self, kinematics: WheelKinematics, speeds: Sequence[float], angles: Sequence[float]
    ) -> None:
        """Set the sign, 1 or -1, of the speed of each driven wheel and of each steering angle."""
        self._kinematics, self._speeds, self._angles = kinematics, speeds, angles

    def command(self, twist: Twist, angles: Sequence[float]) -> tuple[Sequence[float], ...]:
        """Return the speeds and angles of the joints."""
        speeds, wanted = self._kinematics.command(twist, _products(angles, self._angles))
        return _products(speeds, self._speeds), _products(wanted, self._angles)

    def measure(self, speeds: Sequence[float], angles: Sequence[float]) -> Twist:
        """Return the velocity of measured speeds and angles of the joints."""
        return self._kinematics.measure(
            _products(speeds, self._speeds), _products(angles, self._angles)
        )


def _products(values: Sequence[float], signs: Sequence[float]) -> list[float]:
    return [value * sign for value, sign in zip(values, signs, strict=True)]
