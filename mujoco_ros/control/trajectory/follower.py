"""Following one trajectory: from where the references are, along its waypoints, to its end."""

from copy import copy

import numpy as np

from mujoco_ros.control.index_ranges import as_slice
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.trajectory.spline import Cursor, Spline, Waypoints, spline
from mujoco_ros.control.trajectory.trajectory import Trajectory


class TrajectoryFollower:
    """Writes the references of a trajectory's joints, step by step.

    It begins at the references' own position, velocity and acceleration and leads into the first
    waypoint that is still to come; waypoints of the past are left out. What leads in is as smooth
    as that waypoint allows, and at least cubic when the references are moving, so that neither
    position nor velocity ever jumps. Continuous joints go the shorter way round.

    Attributes:
        joints: The joints that still follow it.
        begin: When it began [s of simulated time].
        start: Start of the trajectory [s].
        end: When the last waypoint is to be reached [s].
        finished: Whether it was.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        joints: ControlledJoints,
        references: References,
        acceleration: np.ndarray,
        time: float,
    ) -> None:
        """Begin at `time` from `references` and their `acceleration`, over the robot's joints."""
        points, chosen = trajectory.points, trajectory.joints
        self.begin = time
        self.start = time if trajectory.start is None else trajectory.start
        knots = self.start + points.times
        self.end = float(knots[-1])
        self.finished = False
        self._count = len(knots)
        self._references = references
        self._joints = chosen
        self._kept = np.ones(len(chosen), dtype=bool)
        self._keep()
        self._first = first = min(int(np.searchsorted(knots, time, side="right")), len(knots) - 1)
        now = references.values[:, chosen]
        turns = np.round((now[0] - points.q[first]) / (2 * np.pi))
        offset = np.where(joints.continuous[chosen], 2 * np.pi * turns, 0.0)
        self._offset = offset if offset.any() else None
        self._last = np.stack([points.q[-1] + offset, points.dq[-1], points.tau[-1]])
        # Wider than the limits if the references start beyond them; they come back in time.
        self._lower = np.minimum(joints.lower[chosen], now[0])
        self._upper = np.maximum(joints.upper[chosen], now[0])
        self._lead_in = True
        self._switch = float(knots[first])
        self._rest = _rest(trajectory, knots, first)
        self._cursor: Cursor | None = None
        if knots[first] > time:
            now[0] -= offset
            lead = _lead_in(points, first, now, acceleration[chosen], time, float(knots[first]))
            self._cursor = Cursor(lead)

    @property
    def index(self) -> int:
        """Return the number of the next waypoint."""
        if self.finished or self._cursor is None:
            return self._count
        return self._first if self._lead_in else self._first + self._cursor.segment + 1

    def copy(self) -> "TrajectoryFollower":
        """Return one that stands at the same place and goes on by itself."""
        other = copy(self)
        other._kept = self._kept.copy()
        other._keep()
        if self._cursor is not None:
            other._cursor = self._cursor.copy()
        return other

    def release(self, joints: np.ndarray) -> None:
        """Leave `joints` to somebody else."""
        self._kept &= ~np.isin(self._joints, joints)
        self._keep()

    def update(self, time: float) -> None:
        """Write the references of `time` [s], not before that of the last call."""
        if self._rest is not None and time >= self._switch:
            self._cursor, self._rest = Cursor(self._rest), None
            self._lead_in = False
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
        """Return the acceleration of the joints that follow it, at the time of the last update."""
        if self.finished or self._cursor is None:
            return np.zeros(len(self.joints))
        return self._cursor.acceleration(time)[self._columns]

    def _keep(self) -> None:
        self.joints = self._joints[self._kept]
        self._columns = slice(None) if self._kept.all() else self._kept
        # Where joints follow one upon the other, as all of a robot do, this is quick.
        self._places = as_slice(self.joints)

    def _write(self, values: np.ndarray) -> None:
        self._references.values[:, self._places] = values[:, self._columns]


def _rest(trajectory: Trajectory, knots: np.ndarray, first: int) -> Spline | None:
    """Return the trajectory's own spline from waypoint `first` on."""
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
    """Return the segment from the references `now` to waypoint `first`."""
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
