"""The reference of a frame: it moves to its target with limited velocity and acceleration."""

from copy import copy
from math import sqrt
from typing import Any, NamedTuple

import mujoco
import numpy as np

_RATE = 40.0  # rate at which the last millimetres vanish [1/s]
_MARGIN = 0.8  # fraction of the largest acceleration that is planned for braking
_LONGEST_PERIOD_S = 0.25
"""After a longer silence a stream of poses restarts: the next one acts at once."""
_SMOOTHING = 0.25
_ROUNDING = 1e-6  # tolerance for the rounding of summed times, as a fraction of a period


class Limits(NamedTuple):
    """Largest speed and acceleration, in metres or radians."""

    velocity: float
    acceleration: float


class PoseReference:
    """Pose and velocity of a frame in the base that follow poses, or a velocity.

    Straight lines join the poses of a stream: each is reached when the next one is due.
    """

    def __init__(self) -> None:
        self.position, self.quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        # Velocity of the origin [m/s] and angular velocity [rad/s], and their last change by time
        self.twist, self.acceleration = np.zeros((2, 6))
        self.follows_twist = False
        self._goal, self._goal_quat = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        self._back, self._back_turn = np.zeros(3), np.zeros(3)  # from the goal to the ramp's begin
        self._begin, self._rate = 0.0, 0.0
        self._last, self._period = -np.inf, 0.0
        self._feed, self._desired = np.zeros((2, 6))
        self._set, self._set_quat = np.zeros(3), np.zeros(4)

    def save_state(self) -> dict[str, Any]:
        """Return a copy of the state, for `restore_state`."""
        return {name: copy(value) for name, value in vars(self).items()}

    def restore_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        vars(self).update({name: copy(value) for name, value in state.items()})

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
            self._back[:] = self._set - position
            self._back_turn[:] = _turn_between(self._set_quat, quat)
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
        self._rotate(error[3:] * -scale)

    def slow_down(self, share: float, timestep: float) -> None:
        """Take back all but a share of the last step, which was too fast for the joints."""
        self.position -= (1.0 - share) * timestep * self.twist[:3]
        self._rotate(self.twist[3:] * ((share - 1.0) * timestep))
        self.twist *= share

    def accelerate_less(self, share: float, timestep: float) -> None:
        """Take back all but a share of the last change of the velocity."""
        change = self.acceleration
        change *= (share - 1.0) * timestep
        self.twist += change
        self.position += change[:3] * timestep
        self._rotate(change[3:] * timestep)
        change *= share / ((share - 1.0) * timestep)

    def advance(self, time: float, timestep: float, linear: Limits, angular: Limits) -> None:
        """Compute the reference of the step at `time` [s]."""
        desired, twist = self._desired, self.twist
        moving, turning = twist[:3], twist[3:]
        if not self.follows_twist:
            self._find_setpoint(time)
            error = np.empty(6)
            error[:3] = self._set - self.position
            error[3:] = _turn_between(self._set_quat, self.quat)
            error += self._feed * -timestep  # of the last step; the setpoint has moved since
            desired[:3] = _approach(linear, error[:3]) + self._feed[:3]
            desired[3:] = _approach(angular, error[3:]) + self._feed[3:]
        before = twist.copy()
        _limit(desired[:3], moving, linear, timestep)
        _limit(desired[3:], turning, angular, timestep)
        self.acceleration[:] = (twist - before) / timestep
        self.position += moving * timestep
        self._rotate(turning * timestep)

    def error(self, position: np.ndarray, quat: np.ndarray) -> np.ndarray:
        """Return the reference minus a pose (3,), (4,): metres, rotation vector.  # (6,)"""
        error = np.empty(6)
        error[:3], error[3:] = self.position - position, _turn_between(self.quat, quat)
        return error

    def _rotate(self, turn: np.ndarray) -> None:
        """Rotate the reference by a rotation vector (3,) along the axes of the base."""
        angle = sqrt(float(turn @ turn))
        if angle:
            rotation, before = np.empty(4), self.quat.copy()
            mujoco.mju_axisAngle2Quat(rotation, turn / angle, angle)
            mujoco.mju_mulQuat(self.quat, rotation, before)
            mujoco.mju_normalize4(self.quat)

    def _find_setpoint(self, time: float) -> None:
        """Compute the pose on the ramp at `time`, and its velocity."""
        if not self._rate:
            self._set[:], self._set_quat[:], self._feed[:] = self._goal, self._goal_quat, 0.0
            return
        left = max(0.0, 1.0 - (time - self._begin) * self._rate)
        self._set[:] = self._back * left + self._goal
        axis, rotation = self._back_turn.copy(), np.empty(4)
        angle = mujoco.mju_normalize3(axis)
        mujoco.mju_axisAngle2Quat(rotation, axis, angle * left)
        mujoco.mju_mulQuat(self._set_quat, rotation, self._goal_quat)
        self._feed[:3], self._feed[3:] = self._back * -self._rate, self._back_turn * -self._rate
        if left <= _ROUNDING:
            self._rate = 0.0  # from the next step on

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


def _turn_between(to: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return the rotation vector from `start` to `to`, quaternions along common axes.  # (3,)"""
    along_start, turn = np.empty(3), np.empty(3)
    mujoco.mju_subQuat(along_start, to, start)
    mujoco.mju_rotVecQuat(turn, along_start, start)
    return turn


def _approach(limits: Limits, error: np.ndarray) -> np.ndarray:
    """Return the velocity that removes an error (3,).  # (3,)"""
    distance = sqrt(float(error @ error))
    braking = _MARGIN * limits.acceleration
    linear = braking / _RATE**2
    if distance <= linear:
        return error * _RATE
    speed = min(sqrt(2.0 * braking * (distance - 0.5 * linear)), limits.velocity)
    return error * (speed / distance)


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
