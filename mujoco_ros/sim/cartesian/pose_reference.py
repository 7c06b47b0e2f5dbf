"""The reference of a frame: it moves to its target with limited velocity and acceleration."""

from copy import copy
from math import sqrt
from typing import Any, NamedTuple

import mujoco
import numpy as np

_RATE = 40.0
"""Rate at which the last millimetres vanish [1/s]."""
_MARGIN = 0.8
"""Fraction of the largest acceleration that is planned for braking."""
_LONGEST_PERIOD_S = 0.25
"""After a longer silence a stream of poses restarts: the next one acts at once."""
_SMOOTHING = 0.25
_ROUNDING = 1e-6
"""Tolerance for the rounding of summed times, as a fraction of a period."""


class Limits(NamedTuple):
    """Largest speed and acceleration, in metres or radians."""

    velocity: float
    acceleration: float


class PoseReference:
    """Pose and velocity of a frame that follow poses, or a velocity.

    Poses that arrive in a stream are joined by straight lines: each is reached when the next one is
    due. All is relative to the base, along its axes.

    Attributes:
        position: [m]  # (3,)
        quat: Orientation, wxyz.  # (4,)
        twist: Velocity of the origin [m/s], angular velocity [rad/s].  # (6,)
        acceleration: Change of the twist in the last step [m/s², rad/s²].  # (6,)
        follows_twist: Whether it follows a velocity.
    """

    def __init__(self) -> None:
        self.position, self.quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self.twist, self.acceleration = np.zeros((2, 6))
        self.follows_twist = False
        self._goal, self._goal_quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._back, self._back_turn = np.zeros(3), np.zeros(3)  # from the goal to the ramp's begin
        self._begin, self._rate = 0.0, 0.0
        self._last, self._period = -np.inf, 0.0
        self._feed = np.zeros(6)
        self._error, self._desired = np.zeros((2, 6))
        # Views, which cost as much as a product to make: linear and angular parts.
        moving = (self._desired, self._error, self._feed, self.twist)
        self._linear_parts = tuple(array[:3] for array in moving)
        self._angular_parts = tuple(array[3:] for array in moving)
        self._set, self._set_quat = np.zeros(3), np.zeros(4)
        self._quat, self._turn = np.zeros(4), np.zeros(3)

    def save_state(self) -> dict[str, Any]:
        """Return a copy of the state, for `restore_state`."""
        kept = {name: it for name, it in vars(self).items() if not isinstance(it, tuple)}
        return {name: copy(value) for name, value in kept.items()}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for name, value in state.items():
            if isinstance(value, np.ndarray):
                getattr(self, name)[:] = value
            else:
                setattr(self, name, value)

    def start(self, position: np.ndarray, quat: np.ndarray, twist: np.ndarray) -> None:
        """Start in a pose (3,), (4,) with a velocity (6,), to hold there."""
        self.position[:], self.quat[:], self.twist[:] = position, quat, twist
        self.acceleration[:] = 0.0
        self.follows_twist = False
        self._rate, self._last, self._period = 0.0, -np.inf, 0.0
        self.put_goal(position, quat)

    def follow_pose(
        self, position: np.ndarray, quat: np.ndarray, time: float, timestep: float
    ) -> None:
        """Move to a pose (3,), (4,) from the step at `time` on [s]."""
        period = self._measure(time)
        if self.follows_twist:
            self.put_goal(self.position, self.quat)
        if period and not self.follows_twist:
            self._find_setpoint(time - timestep)
            self._ramp_from(position, quat)
            self._begin, self._rate = time - timestep, 1.0 / max(period, timestep)
        else:
            self._rate = 0.0
        self._goal[:], self._goal_quat[:] = position, quat
        self.follows_twist = False

    def put_goal(self, position: np.ndarray, quat: np.ndarray) -> None:
        """Replace the goal (3,), (4,) at once, as of a target that moves with its frame."""
        self._goal[:], self._goal_quat[:] = position, quat

    def follow_twist(self, twist: np.ndarray) -> None:
        """Follow a velocity (6,), which may change at every step."""
        self.follows_twist = True
        self._last = -np.inf
        self._desired[:] = twist

    def hold(self) -> None:
        """Brake and stay."""
        if self.follows_twist:
            self._desired[:] = 0.0

    def pull(self, error: np.ndarray, scale: float) -> None:
        """Move towards the frame by a fraction `scale` of the `error` (6,) to it."""
        self.position -= scale * error[:3]
        mujoco.mju_scl3(self._turn, error[3:], -scale)
        self._rotate(self._turn)

    def slow_down(self, share: float, timestep: float) -> None:
        """Take back all but a share of the last step, which was too fast for the joints."""
        self.position -= (1.0 - share) * timestep * self.twist[:3]
        mujoco.mju_scl3(self._turn, self.twist[3:], (share - 1.0) * timestep)
        self._rotate(self._turn)
        self.twist *= share

    def accelerate_less(self, share: float, timestep: float) -> None:
        """Take back all but a share of the last change of the velocity."""
        change = self.acceleration
        change *= (share - 1.0) * timestep
        self.twist += change
        mujoco.mju_addToScl3(self.position, change[:3], timestep)
        mujoco.mju_scl3(self._turn, change[3:], timestep)
        self._rotate(self._turn)
        change *= share / ((share - 1.0) * timestep)

    def advance(self, time: float, timestep: float, linear: Limits, angular: Limits) -> None:
        """Compute the reference of the step at `time` [s]."""
        desired = self._desired
        if not self.follows_twist:
            self._find_setpoint(time)
            error = self._error
            np.subtract(self._set, self.position, out=self._linear_parts[1])
            _turn_between(self._set_quat, self.quat, self._angular_parts[1], self._quat)
            # The error of the last step; the setpoint has moved since.
            np.multiply(self._feed, -timestep, out=desired)
            error += desired
            _approach(linear, *self._linear_parts[:3])
            _approach(angular, *self._angular_parts[:3])
        acceleration = self.acceleration
        np.negative(self.twist, out=acceleration)
        for limits, (wanted, _, _, velocity) in zip(
            (linear, angular), (self._linear_parts, self._angular_parts), strict=True
        ):
            _limit(wanted, velocity, limits, timestep)
        acceleration += self.twist
        acceleration /= timestep
        mujoco.mju_addToScl3(self.position, self._linear_parts[3], timestep)
        mujoco.mju_scl3(self._turn, self._angular_parts[3], timestep)
        self._rotate(self._turn)

    def error(self, position: np.ndarray, quat: np.ndarray, out: np.ndarray) -> None:
        """Write the reference minus a pose (3,), (4,) to `out` (6,): metres, rotation vector."""
        np.subtract(self.position, position, out=out[:3])
        _turn_between(self.quat, quat, out[3:], self._quat)

    def _rotate(self, turn: np.ndarray) -> None:
        """Rotate the reference by a rotation vector along the axes of the base."""
        angle = sqrt(float(turn @ turn))
        if angle:
            turn /= angle
            mujoco.mju_axisAngle2Quat(self._quat, turn, angle)
            mujoco.mju_mulQuat(self._set_quat, self._quat, self.quat)
            self.quat[:] = self._set_quat
            mujoco.mju_normalize4(self.quat)

    def _find_setpoint(self, time: float) -> None:
        """Compute the pose on the ramp at `time`, and its velocity."""
        if not self._rate:
            self._set[:], self._set_quat[:], self._feed[:] = self._goal, self._goal_quat, 0.0
            return
        left = max(0.0, 1.0 - (time - self._begin) * self._rate)
        np.multiply(self._back, left, out=self._set)
        self._set += self._goal
        mujoco.mju_copy3(self._turn, self._back_turn)
        angle = mujoco.mju_normalize3(self._turn)
        mujoco.mju_axisAngle2Quat(self._quat, self._turn, angle * left)
        mujoco.mju_mulQuat(self._set_quat, self._quat, self._goal_quat)
        np.multiply(self._back, -self._rate, out=self._feed[:3])
        np.multiply(self._back_turn, -self._rate, out=self._feed[3:])
        if left <= _ROUNDING:
            self._rate = 0.0  # from the next step on

    def _ramp_from(self, position: np.ndarray, quat: np.ndarray) -> None:
        """Begin a ramp from the setpoint to a pose."""
        np.subtract(self._set, position, out=self._back)
        _turn_between(self._set_quat, quat, self._back_turn, self._quat)

    def _measure(self, time: float) -> float:
        """Return the period of the stream [s]; 0 for its first pose."""
        gap, old = time - self._last, self._period
        if gap > _LONGEST_PERIOD_S:
            period = 0.0
        elif gap <= 0:
            period = old
        else:
            period = old + _SMOOTHING * (gap - old) if old else gap
        self._last, self._period = time, period
        return period


def _turn_between(to: np.ndarray, start: np.ndarray, out: np.ndarray, buffer: np.ndarray) -> None:
    """Write the rotation vector from `start` to `to`, quaternions along common axes."""
    mujoco.mju_subQuat(out, to, start)  # along the axes of start
    buffer[1:] = out
    mujoco.mju_rotVecQuat(out, buffer[1:], start)


def _approach(limits: Limits, out: np.ndarray, error: np.ndarray, feed: np.ndarray) -> None:
    """Write the velocity that removes an error beside a setpoint that moves with `feed`."""
    distance = sqrt(float(error @ error))
    braking = _MARGIN * limits.acceleration
    linear = braking / _RATE**2
    if distance <= linear:
        np.multiply(error, _RATE, out=out)
    else:
        speed = min(sqrt(2.0 * braking * (distance - 0.5 * linear)), limits.velocity)
        np.multiply(error, speed / distance, out=out)
    out += feed


def _limit(desired: np.ndarray, velocity: np.ndarray, limits: Limits, timestep: float) -> None:
    """Bring a velocity to the desired one, as far as the limits allow."""
    speed = sqrt(float(desired @ desired))
    scale = 1.0 if speed <= limits.velocity else limits.velocity / speed
    x, y, z = velocity.tolist()
    a, b, c = desired.tolist()
    change = (scale * a - x, scale * b - y, scale * c - z)
    size, most = sqrt(sum(part * part for part in change)), limits.acceleration * timestep
    share = 1.0 if size <= most else most / size
    velocity[0] = x + share * change[0]
    velocity[1] = y + share * change[1]
    velocity[2] = z + share * change[2]
