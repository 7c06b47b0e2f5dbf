"""Execution of one trajectory: from the present references through its waypoints to its end."""

import numpy as np

from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.trajectory.spline import Cursor, Spline, Waypoints, spline
from mujoco_ros.control.trajectory.trajectory import Trajectory


class TrajectoryFollower:
    """Writes the references of a trajectory's joints at every step.

    The first segment leads from the present position, velocity and acceleration references to the
    first waypoint in the future; waypoints in the past are skipped. This segment has the degree of
    that waypoint, and at least three if the references are moving, so that neither position nor
    velocity is discontinuous. Continuous joints take the shorter direction.

    Attributes:
        joints: Indices of the joints that it still moves.
        begin: Simulated time at which the execution began [s].
        start: Start of the trajectory [s].
        end: Time of the last waypoint [s].
        finished: Whether the last waypoint was reached.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        joints: ControlledJoints,
        references: References,
        acceleration: np.ndarray,
        time: float,
    ) -> None:
        """Begin at `time` from `references` and their `acceleration` (n,)."""
        points, indices = trajectory.points, trajectory.joints
        self.begin = time
        self.start = time if trajectory.start is None else trajectory.start
        knots = self.start + points.times
        self.end = float(knots[-1])
        self.finished = False
        self._count = len(knots)
        self._references = references
        self._joints = indices
        self._active = np.ones(len(indices), dtype=bool)
        self._select()
        self._first = first = min(int(np.searchsorted(knots, time, side="right")), len(knots) - 1)
        now = references.values[:, indices]
        full_turns = np.round((now[0] - points.q[first]) / (2 * np.pi))
        offset = np.where(joints.continuous[indices], 2 * np.pi * full_turns, 0.0)
        self._offset = offset if offset.any() else None
        self._last = np.stack([points.q[-1] + offset, points.dq[-1], points.tau[-1]])
        # Wider than the limits if the references begin beyond them.
        self._lower = np.minimum(joints.lower[indices], now[0])
        self._upper = np.maximum(joints.upper[indices], now[0])
        self._in_lead = True
        self._lead_end = float(knots[first])
        self._rest = _rest(trajectory, knots, first)
        self._cursor: Cursor | None = None
        if knots[first] > time:
            now[0] -= offset
            lead = _lead_in(points, first, now, acceleration[indices], time, float(knots[first]))
            self._cursor = Cursor(lead)

    @property
    def index(self) -> int:
        """Index of the next waypoint."""
        if self.finished or self._cursor is None:
            return self._count
        return self._first if self._in_lead else self._first + self._cursor.segment + 1

    def release(self, joints: np.ndarray) -> None:
        """Release `joints`."""
        self._active &= ~np.isin(self._joints, joints)
        self._select()

    def update(self, time: float) -> None:
        """Write the references of `time` [s]; times must not decrease."""
        if self._rest is not None and time >= self._lead_end:
            self._cursor, self._rest = Cursor(self._rest), None
            self._in_lead = False
        cursor = self._cursor
        if cursor is None or time >= self.end:
            self.finished = True
            self._write(self._last)
            return
        cursor.move(time)
        q = cursor.values[0]
        if self._offset is not None:
            q += self._offset
        outside = (q < self._lower) | (q > self._upper)
        if outside.any():
            np.clip(q, self._lower, self._upper, out=q)
            cursor.values[1, outside] = 0.0
        self._write(cursor.values)

    def acceleration(self, time: float) -> np.ndarray:
        """Return the acceleration of `joints` at the time of the last update."""
        if self.finished or self._cursor is None:
            return np.zeros(len(self.joints))
        return self._cursor.acceleration(time)[self._columns]

    def _select(self) -> None:
        self.joints = self._joints[self._active]
        self._columns = slice(None) if self._active.all() else self._active
        self._targets = as_slice(self.joints)

    def _write(self, values: np.ndarray) -> None:
        self._references.values[:, self._targets] = values[:, self._columns]


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
