"""Paths from the present references along a trajectory, by the kind of the trajectory.

All have the same interface: `move` evaluates at a time [s], which must not decrease and be before
`end` [s], where the last waypoint begins to hold. `values` are position, velocity and effort at the
time of the last `move` (3, k), `acceleration` (k,) belongs to the same time, and `index` is the
next waypoint.
"""

from dataclasses import replace

import numpy as np

from mujoco_ros.control.trajectory.spline import Cursor, Spline, Waypoints, spline
from mujoco_ros.control.trajectory.trajectory import LEADING, Trajectory


class LeadInPath:
    """Leads to the first waypoint in the future, then follows the trajectory's spline.

    The first segment has the degree of that waypoint, and at least three if the references are
    moving, so that neither position nor velocity is discontinuous.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        knots: np.ndarray,
        first: int,
        now: np.ndarray,
        acceleration: np.ndarray,
        time: float,
    ) -> None:
        """Begin at `time` [s] from the references `now` (3, k) and their `acceleration` (k,).

        `knots` are the times of the waypoints [s] (m,), and `first` is the index of the first
        waypoint in the future, else of the last one.
        """
        self._first = first
        self._until = until = float(knots[first])
        self._rest = _rest(trajectory, knots, first)
        self._in_lead = True
        self.end = float(knots[-1])
        points = trajectory.points
        if until > time:
            self._cursor = Cursor(_lead_in(points, first, now, acceleration, time, until))

    @property
    def values(self) -> np.ndarray:
        """Position, velocity and effort at the time of the last `move`.  # (3, k)"""
        return self._cursor.values

    @property
    def index(self) -> int:
        """Index of the next waypoint."""
        return self._first if self._in_lead else self._first + self._cursor.segment + 1

    def move(self, time: float) -> None:
        """Evaluate at `time` [s]."""
        if self._rest is not None and time >= self._until:
            self._cursor, self._rest = Cursor(self._rest), None
            self._in_lead = False
        self._cursor.move(time)

    def acceleration(self, time: float) -> np.ndarray:
        """Return the acceleration.  # (k,)"""
        return self._cursor.acceleration(time)


class BlendedPath:
    """Follows the curve of a chunk at once, with an offset that fades.

    The offset is the quintic polynomial from the differences of position, velocity and acceleration
    between references and curve to zero. So all three are continuous.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        knots: np.ndarray,
        first: int,
        now: np.ndarray,
        acceleration: np.ndarray,
        time: float,
    ) -> None:
        assert trajectory.curve is not None
        start = float(knots[0] - trajectory.points.times[0])
        curve = replace(trajectory.curve, begin=trajectory.curve.begin + start)
        self._curve = Cursor(curve)
        self._curve.move(time)
        self.values = now.copy()
        self._faded = max(time + trajectory.blend_time, float(knots[first]))
        self.end = max(float(knots[-1]), self._faded)
        self._offset: Cursor | None = None
        if self._faded > time:
            q, dq, tau = now - self._curve.values
            ddq = acceleration - self._curve.acceleration(time)
            rest = np.zeros_like(q)
            self._offset = Cursor(
                spline(
                    Waypoints(
                        times=np.array([time, self._faded]),
                        q=np.stack([q, rest]),
                        dq=np.stack([dq, rest]),
                        ddq=np.stack([ddq, rest]),
                        tau=np.stack([tau, rest]),
                        degree=np.array([5, 5]),
                    )
                )
            )

    @property
    def index(self) -> int:
        """Index of the next waypoint."""
        return max(0, self._curve.segment + 1 - LEADING)

    def move(self, time: float) -> None:
        """Evaluate at `time` [s]."""
        self._curve.move(time)
        if time >= self._faded:
            self._offset = None
        if self._offset is None:
            self.values[:] = self._curve.values
        else:
            self._offset.move(time)
            np.add(self._curve.values, self._offset.values, out=self.values)

    def acceleration(self, time: float) -> np.ndarray:
        """Return the acceleration.  # (k,)"""
        acceleration = self._curve.acceleration(time)
        if self._offset is not None:
            acceleration += self._offset.acceleration(time)
        return acceleration


class SteppedPath:
    """Holds the position until the first waypoint, then always the next waypoint."""

    def __init__(
        self,
        trajectory: Trajectory,
        knots: np.ndarray,
        first: int,
        now: np.ndarray,
        _acceleration: np.ndarray,
        time: float,
    ) -> None:
        points = trajectory.points
        self._knots = knots
        self._waypoints = np.stack([points.q, points.dq, points.tau])  # (3, m, k)
        self._none = np.zeros(points.q.shape[1])
        self._held = now.copy()
        self._held[1] = 0.0
        self.values = self._held.copy()
        self.index = 0
        self.end = float(knots[-1])
        self._next = float(knots[0])

    def move(self, time: float) -> None:
        """Evaluate at `time` [s]."""
        while time >= self._next:
            self.index += 1
            self._next = float(self._knots[self.index])
            self._held = self._waypoints[:, self.index]
        self.values[:] = self._held

    def acceleration(self, _time: float) -> np.ndarray:
        """Return zeros.  # (k,)"""
        return self._none


Path = LeadInPath | BlendedPath | SteppedPath
PATHS: dict[str, type[LeadInPath] | type[BlendedPath] | type[SteppedPath]] = {
    "lead_in": LeadInPath,
    "blended": BlendedPath,
    "stepped": SteppedPath,
}
"""By kind of the trajectory."""


def _rest(trajectory: Trajectory, knots: np.ndarray, first: int) -> Spline | None:
    """Return the trajectory's spline from waypoint `first` on; None if that is the last one."""
    curve = trajectory.curve
    if curve is None or first == len(knots) - 1:
        return None
    return Spline(
        begin=knots[first:-1],
        duration=curve.duration[first:],
        q=curve.q[first:],
        tau=curve.tau[first:],
    )


def _lead_in(
    points: Waypoints,
    first: int,
    now: np.ndarray,
    acceleration: np.ndarray,
    time: float,
    until: float,
) -> Spline:
    """Return the segment from the references `now` (3, k) to waypoint `first`."""
    degree, velocity = int(points.degree[first]), points.dq[first]
    if degree == 1 and now[1].any():
        degree = 3
        if first < len(points.times) - 1:
            step = points.times[first + 1] - points.times[first]
            velocity = (points.q[first + 1] - points.q[first]) / step
    return spline(
        Waypoints(
            times=np.array([time, until]),
            q=np.stack([now[0], points.q[first]]),
            dq=np.stack([now[1], velocity]),
            ddq=np.stack([acceleration, points.ddq[first]]),
            tau=np.stack([now[2], points.tau[first]]),
            degree=np.array([degree, degree]),
        )
    )
