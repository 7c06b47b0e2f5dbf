"""Execution of one trajectory: its references, tolerances and stops."""

import numpy as np

from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References, as_slice
from mujoco_ros.control.trajectory.paths import PATHS, Path
from mujoco_ros.control.trajectory.spline import Waypoints, spline
from mujoco_ros.control.trajectory.trajectory import Tolerances, Trajectory


def stop_trajectory(
    joints: np.ndarray, references: References, deceleration: np.ndarray
) -> Trajectory | None:
    """Return the trajectory that stops moving `joints` (k,) from their references, each on its own.

    Efforts stay. `deceleration` is of each joint of the robot [rad/s² or m/s²] (n,). None is
    returned if none moves, or if one that moves has no deceleration.
    """
    moving = joints[references.dq[joints] != 0]
    limit = deceleration[moving]
    if not moving.size or not limit.all():
        return None
    q, dq, tau = references.values[:, moving]
    stopping = np.abs(dq) / limit  # (k,)
    times = np.unique(stopping)
    braked = np.minimum(times[:, None], stopping)  # (m, k)
    change = -np.sign(dq) * limit
    velocity = dq + change * braked
    velocity[times[:, None] >= stopping] = 0.0
    # Cubic segments are exact: between these times, positions are quadratic.
    points = Waypoints(
        times=times,
        q=q + dq * braked + change * braked**2 / 2,
        dq=velocity,
        ddq=np.zeros_like(velocity),
        tau=np.tile(tau, (len(times), 1)),
        degree=np.full(len(times), 3),
    )
    return Trajectory(
        joints=moving,
        start=None,
        points=points,
        curve=spline(points) if len(times) > 1 else None,
        tolerances=Tolerances.unbounded(len(moving)),
        is_stop=True,
    )


_NOTABLE = 0.02
"""Position error at the goal that the result mentions if no tolerance is set [rad or m]."""


class TrackingErrors:
    """Compares references with measured positions and velocities."""

    def __init__(self, joints: ControlledJoints, references: References) -> None:
        self._joints, self._references = joints, references

    def violation(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> str:
        """Return a description of the worst error beyond the tolerances; empty without one.

        The largest errors of position and velocity of `joints` (k,) are `allowed` (2, k); `q` and
        `dq` are measured, of all joints (n,).
        """
        worst = self._worst(joints, allowed, q, dq)
        return "" if worst is None else f"{worst[0]}, allowed is {worst[1]:.6g}"

    def success(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> str:
        """Return the message of a reached goal, with notable errors where no tolerance is set."""
        notable = np.full((2, len(joints)), np.inf)
        notable[0] = np.where(np.isinf(allowed[0]), _NOTABLE, np.inf)
        worst = self._worst(joints, notable, q, dq)
        if worst is None:
            return "goal reached"
        return f"trajectory completed; {worst[0]}, and no goal tolerance is set"

    def _worst(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> tuple[str, float] | None:
        """Return the worst error beyond `allowed` (2, k), as text, and its tolerance."""
        desired = self._references.values[:2]
        errors = np.abs(self._joints.error(desired, np.stack([q, dq])))[:, joints]
        for row, quantity in enumerate(("position", "velocity")):
            beyond = errors[row] > allowed[row]
            if beyond.any():
                worst = int(np.argmax(np.where(beyond, errors[row] / allowed[row], 0.0)))
                joint, off = self._joints.names[joints[worst]], errors[row, worst]
                text = f"{quantity} of joint '{joint}' is off by {off:.6g}"
                return text, float(allowed[row, worst])
        return None


class TrajectoryFollower:
    """Writes the references of a trajectory's joints at every step.

    Its path begins at the present position, velocity and acceleration references. Waypoints in the
    past are skipped. Continuous joints take the shorter direction.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        joints: ControlledJoints,
        references: References,
        acceleration: np.ndarray,
        time: float,
        scaling: float = 1.0,
    ) -> None:
        """Begin from the references at `time` [s], with their `acceleration` (n,).

        Trajectory time passes `scaling` times as fast as simulated time.
        """
        points, indices = trajectory.points, trajectory.joints
        self.begin = time  # simulated time at which the execution began [s]
        self._start = time if trajectory.start is None else trajectory.start
        knots = self._start + points.times
        self.finished = False  # whether the last waypoint was reached
        self._count = len(knots)
        self._references = references
        self._joints = indices
        self._is_stop = trajectory.is_stop
        self._scaling = scaling = 1.0 if self._is_stop else scaling
        self._updated = time
        self._delay = 0.0  # of trajectory time
        self._active = np.ones(len(indices), dtype=bool)
        self._select()
        first = min(int(np.searchsorted(knots, time, side="right")), len(knots) - 1)
        now = references.values[:, indices]
        full_turns = np.round((now[0] - points.q[first]) / (2 * np.pi))
        turning = joints.continuous[indices] & (not self._is_stop)
        offset = np.where(turning, 2 * np.pi * full_turns, 0.0)
        self._offset = offset if offset.any() else None
        self._last = np.stack([points.q[-1] + offset, points.dq[-1], points.tau[-1]])
        # Wider than the limits if the references begin beyond them.
        self._lower = np.minimum(joints.lower[indices], now[0])
        self._upper = np.maximum(joints.upper[indices], now[0])
        now[0] -= offset
        ddq = acceleration[indices]
        if scaling != 1.0:  # derivatives by trajectory time
            now[1] = now[1] / scaling if scaling else 0.0
            ddq = ddq / scaling**2 if scaling else np.zeros_like(ddq)
        self._path: Path = PATHS[trajectory.path](trajectory, knots, first, now, ddq, time)

    @property
    def start(self) -> float:
        """Start of the trajectory [s], later if it is slowed down."""
        return self._start + self._delay

    @property
    def end(self) -> float:
        """Time of the last waypoint [s], later if it is slowed down."""
        return self._path.end + self._delay

    @property
    def index(self) -> int:
        """Index of the next waypoint."""
        return self._count if self.finished else self._path.index

    def release(self, joints: np.ndarray) -> None:
        """Release `joints`."""
        self._active &= ~np.isin(self._joints, joints)
        self._select()

    def update(self, time: float, scaling: float = 1.0) -> None:
        """Write the references of `time` [s]; times must not decrease.

        Since the last update, trajectory time passed `scaling` times as fast as simulated time.
        """
        if not self._is_stop:
            self._delay += (1.0 - scaling) * (time - self._updated)
            self._updated, self._scaling = time, scaling
        time -= self._delay
        if time >= self._path.end:
            self.finished = True
            self._write(self._last.copy())
            return
        path = self._path
        path.move(time)
        values = path.values
        q = values[0]
        if self._offset is not None:
            q += self._offset
        outside = (q < self._lower) | (q > self._upper)
        if outside.any():
            np.clip(q, self._lower, self._upper, out=q)
            values[1, outside] = 0.0
        self._write(values)

    def acceleration(self, time: float) -> np.ndarray:
        """Return the acceleration of `joints` at the time of the last update."""
        if self.finished:
            return np.zeros(len(self.joints))
        acceleration = self._path.acceleration(time - self._delay)[self._columns]
        return acceleration if self._scaling == 1.0 else acceleration * self._scaling**2

    def _select(self) -> None:
        self.joints = self._joints[self._active]  # indices of the joints that it still moves
        self._columns = slice(None) if self._active.all() else self._active
        self._targets = as_slice(self.joints)

    def _write(self, values: np.ndarray) -> None:
        """Write references, whose velocities are those by trajectory time."""
        if self._scaling != 1.0:
            values[1] *= self._scaling
        self._references.values[:, self._targets] = values[:, self._columns]
