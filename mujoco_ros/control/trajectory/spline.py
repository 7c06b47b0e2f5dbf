"""Piecewise polynomials through waypoints: linear, cubic or quintic by the waypoints' fields."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Waypoints:
    """Waypoints of k joints."""

    times: np.ndarray  # times, strictly increasing [s] (m,)
    q: np.ndarray  # positions [rad or m] (m, k)
    dq: np.ndarray  # velocities [rad/s or m/s]; zero where `degree` does not use them (m, k)
    ddq: np.ndarray  # accelerations [rad/s² or m/s²]; likewise (m, k)
    tau: np.ndarray  # feed-forward efforts [Nm or N] (m, k)
    degree: np.ndarray  # 1, 3 or 5 for points with positions, velocities, accelerations (m,)


@dataclass(frozen=True, kw_only=True)
class Spline:
    """Polynomials between waypoints, over the normalised time s = (t - begin) / duration."""

    begin: np.ndarray  # begin of each segment [s] (segments,)
    duration: np.ndarray  # duration of each segment [s] (segments,)
    q: np.ndarray  # coefficients of the positions, rising powers of s (segments, 2 to 6, k)
    tau: np.ndarray  # coefficients of the efforts, which are linear (segments, 2, k)


def spline(points: Waypoints) -> Spline:
    """Return the spline through `points`.

    A segment has the lower degree of its ends: quintic between accelerations, cubic between
    velocities, else linear. It is the Hermite interpolation of values and derivatives at s = 0 and
    s = 1.
    """
    duration = np.diff(points.times)
    degree = np.minimum(points.degree[:-1], points.degree[1:])
    order = int(degree.max(initial=1))
    q = np.zeros((len(duration), order + 1, points.q.shape[1]))
    start, step = points.q[:-1], np.diff(points.q, axis=0)
    q[:, 0], q[:, 1] = start, step
    if order > 1:
        smooth = degree > 1
        time = duration[smooth, None]
        h, v0, v1 = step[smooth], points.dq[:-1][smooth] * time, points.dq[1:][smooth] * time
        q[smooth, 1] = v0
        q[smooth, 2] = 3 * h - 2 * v0 - v1
        q[smooth, 3] = v0 + v1 - 2 * h
    if order > 3:
        smooth = degree > 3
        time = duration[smooth, None]
        h, v0, v1 = step[smooth], points.dq[:-1][smooth] * time, points.dq[1:][smooth] * time
        a0, a1 = points.ddq[:-1][smooth] * time**2, points.ddq[1:][smooth] * time**2
        q[smooth, 2] = a0 / 2
        q[smooth, 3] = 10 * h - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1
        q[smooth, 4] = -15 * h + 8 * v0 + 7 * v1 + 1.5 * a0 - a1
        q[smooth, 5] = 6 * h - 3 * (v0 + v1) - 0.5 * (a0 - a1)
    tau = np.stack([points.tau[:-1], np.diff(points.tau, axis=0)], axis=1)
    return Spline(begin=points.times[:-1], duration=duration, q=q, tau=tau)


class Cursor:
    """Evaluates a spline at increasing times without allocation."""

    def __init__(self, curve: Spline) -> None:
        self._curve = curve
        joints = curve.q.shape[2]
        # Position, velocity and effort at the time of the last `move` (3, k)
        self.values = np.zeros((3, joints))
        self._flat = self.values.reshape(-1)
        order = curve.q.shape[1]
        self._exponents = np.arange(float(order))
        self._powers = np.ones(order)  # of the normalised time
        self._coefficients = np.zeros((order, 3, joints))
        self._rows = self._coefficients.reshape(order, -1)
        self._second = np.zeros((order - 1, joints))  # coefficients of the acceleration
        self._enter(0)

    def __deepcopy__(self, _memo: object) -> "Cursor":
        """Return an independent cursor of the same curve and segment."""
        other = Cursor(self._curve)  # with views of its arrays
        other._enter(self.segment)
        return other

    def move(self, time: float) -> None:
        """Evaluate at `time` [s], which must not decrease and be before the end."""
        if time >= self._until:
            self._enter(int(np.searchsorted(self._curve.begin, time, side="right")) - 1)
        self._compute_powers(time)
        np.dot(self._powers, self._rows, out=self._flat)

    def acceleration(self, time: float) -> np.ndarray:
        """Return the acceleration at `time`, within the present segment."""
        self._compute_powers(time)
        acceleration: np.ndarray = np.dot(self._powers[:-1], self._second)
        return acceleration

    def _enter(self, segment: int) -> None:
        curve, rows = self._curve, self._coefficients
        self.segment = segment  # at that time
        self._powers_at = np.nan
        self._begin = float(curve.begin[segment])
        self._duration = float(curve.duration[segment])
        last = segment == len(curve.begin) - 1
        self._until = np.inf if last else float(curve.begin[segment + 1])
        rows[:, 0] = curve.q[segment]
        derivative = self._exponents[1:, None] / self._duration
        np.multiply(rows[1:, 0], derivative, out=rows[:-1, 1])
        np.multiply(rows[1:, 1], derivative, out=self._second)
        rows[:2, 2] = curve.tau[segment]

    def _compute_powers(self, time: float) -> None:
        if time != self._powers_at:
            self._powers_at = time
            s = (time - self._begin) / self._duration
            np.power(s, self._exponents, out=self._powers)
