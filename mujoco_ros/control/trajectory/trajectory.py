"""Checked joint trajectories, their tolerances, and chunks that learned policies send."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from mujoco_ros.control.events import ActionGoal, CommandError, JointError, LateError
from mujoco_ros.control.joints import (
    EFFORT,
    LARGEST,
    POSITION,
    Clamped,
    ControlledJoints,
    check_numbers,
)
from mujoco_ros.control.settings import SPEED_SCALING, OutOfLimits, TrajectorySettings
from mujoco_ros.control.trajectory.spline import Spline, Waypoints, spline

LEADING = 3
"""Segments of a chunk's curve before its first waypoint."""
_UNEVEN = "the times of the points are too uneven for a smooth curve; send velocities with them"


def chunk_curve(points: Waypoints) -> Spline:
    """Return the curve of a chunk, with continuous accelerations, for all times.

    It is the cubic spline through the positions, with not-a-knot ends, but for two parts. Its last
    segment is quintic and ends at rest, and the curve stays there: so the end of a chunk does not
    slow down the motion before its last but one waypoint. Before the first waypoint, its first
    polynomial continues for the duration of a segment; before that, the acceleration fades to zero
    within the same duration, and the velocity is constant.
    """
    from scipy.interpolate import CubicSpline  # here, as few sessions need it

    times, q, tau = points.times, points.q, points.tau
    dq, ddq = np.zeros((2, *q.shape))
    step = float(times[1] - times[0]) if len(times) > 1 else 1.0
    earlier = times[0] - step * np.array([3.0, 2.0, 1.0])
    q_earlier, dq_earlier, ddq_earlier = np.zeros((3, LEADING, q.shape[1]))
    q_earlier[:] = q[0]
    if len(times) > 1:
        try:
            through = CubicSpline(times, q)
        except np.linalg.LinAlgError:
            raise CommandError(_UNEVEN) from None
        dq[:-1], ddq[:-1] = through(times[:-1], 1), through(times[:-1], 2)
        q_earlier[2], dq_earlier[2], ddq_earlier[2] = (through(earlier[2], k) for k in range(3))
        dq_earlier[:2] = dq_earlier[2] - ddq_earlier[2] * step / 2
        q_earlier[1] = q_earlier[2] - dq_earlier[2] * step + ddq_earlier[2] * step**2 / 3
        q_earlier[0] = q_earlier[1] - dq_earlier[1] * step
    rest = np.zeros_like(q[:1])
    curve = spline(
        Waypoints(
            times=np.concatenate([earlier, times, times[-1:] + step]),
            q=np.concatenate([q_earlier, q, q[-1:]]),
            dq=np.concatenate([dq_earlier, dq, rest]),
            ddq=np.concatenate([ddq_earlier, ddq, rest]),
            tau=np.concatenate([tau[[0] * LEADING], tau, tau[-1:]]),
            degree=np.full(len(times) + LEADING + 1, 5),
        )
    )
    if not np.abs(curve.q).max() <= LARGEST:  # also if there is a NaN
        raise CommandError(_UNEVEN)
    curve.q[0, 2:] = 0.0  # without the rounding, which would grow far before the begin
    return curve


_FIELDS = ("positions", "velocities", "accelerations", "effort")
_ZERO_VELOCITY = float(np.finfo(np.float32).eps)
"""Largest final velocity that counts as zero, as in ros2_controllers."""
_LARGEST_TOLERANCE = 1e6  # larger tolerances are mistakes; -1 is none
_FARTHEST_S = 86_400.0  # time to a start, beyond which it is a time of another clock


@dataclass(frozen=True, kw_only=True)
class PointArrays:
    """The points of a trajectory message as arrays."""

    times: np.ndarray  # ``time_from_start`` [s] (m,)
    values: np.ndarray  # positions, velocities, accelerations, efforts; 0 where not given (4, m, k)
    given: np.ndarray  # which of the four each point has (4, m) bool


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """Largest errors of the joints of a trajectory; inf is unbounded."""

    path: np.ndarray  # position and velocity along the path (2, k)
    goal: np.ndarray  # position and velocity at the end (2, k)
    # Time after the end in which to reach the goal [s]; 0 is unbounded
    goal_time: float = 0.0

    @classmethod
    def unbounded(cls, count: int) -> "Tolerances":
        """Return tolerances of a number of joints that no error exceeds."""
        none = np.full((2, count), np.inf)
        return cls(path=none, goal=none)


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """A checked trajectory of some joints of a robot; without points, they hold."""

    joints: np.ndarray  # indices of the joints (k,)
    start: float | None  # simulated time of its start [s]; None starts immediately
    points: Waypoints  # waypoints, with times relative to the start
    curve: Spline | None  # the spline through them; None for a single waypoint
    tolerances: Tolerances  # largest errors of the joints
    # Which positions were clamped to the joints' limits
    clamped: Clamped = field(default_factory=Clamped)
    # Kind of the path from the present references along the trajectory, see `paths`
    path: Literal["lead_in", "blended", "stepped"] = "lead_in"
    blend_time: float = 0.0  # time in which references join the curve of a chunk [s]
    # Whether it only stops a motion: speed scaling has no effect, and continuous joints take no
    # shorter direction
    is_stop: bool = False
    restarts: bool = False  # whether its source has started again after a reset
    goal: ActionGoal | None = None  # the goal of an action client that it executes

    @property
    def is_hold(self) -> bool:
        """Whether it has no points: its joints stop at their references."""
        return not len(self.points.times)

    @property
    def duration(self) -> float:
        """Time from the start to the last waypoint [s]."""
        return float(self.points.times[-1])

    def restrict(self, joints: np.ndarray) -> "Trajectory":
        """Return the trajectory of the joints that are also in `joints`, by their indices."""
        kept = np.isin(self.joints, joints)
        if kept.all():
            return self
        values = {name: getattr(self.points, name)[:, kept] for name in ("q", "dq", "ddq", "tau")}
        curve = self.curve
        if curve is not None:
            curve = replace(curve, q=curve.q[:, :, kept], tau=curve.tau[:, :, kept])
        return replace(
            self, joints=self.joints[kept], points=replace(self.points, **values), curve=curve
        )

    def check_in_time(self, time: float) -> None:
        """Reject a trajectory that ends before a simulated time [s], or starts long after it."""
        if self.start is not None and (end := self.start + self.duration) < time:
            raise LateError(
                f"the trajectory ends in the past: at {end:.3f} s, and it is {time:.3f} s"
            )
        if self.start is not None and self.start - time > _FARTHEST_S:
            raise CommandError(
                f"the trajectory starts in {self.start - time:.0f} s, more than a day ahead; is "
                "use_sim_time set on its sender?"
            )


class JointTolerance(Protocol):
    """A tolerance of a joint, as control_msgs/JointTolerance: 0 is the default, -1 unbounded."""

    name: str
    position: float
    velocity: float
    acceleration: float


def trajectory(
    joints: ControlledJoints,
    settings: TrajectorySettings,
    out_of_limits: OutOfLimits,
    names: Sequence[str],
    start: float | None,
    points: PointArrays,
    *,
    upsampled: bool = False,
) -> Trajectory:
    """Return a checked trajectory, with the tolerances of the settings.

    The names of the joints are in the order of the values of the points, of which there is at least
    one. `start` is a simulated time [s]; None starts immediately. If it is `upsampled` and has
    positions only, it becomes smooth by the settings.
    """
    indices = _indices(joints, settings, names)
    stepped = settings.interpolation_method == "none"
    positions_only = points.given[0].all() and not points.given[1:3].any()
    is_chunk = upsampled and settings.positions_upsampling and positions_only and not stepped
    if is_chunk and settings.policy_frequency > 0 and not points.times.any():
        times = np.arange(1.0, len(points.times) + 1) / settings.policy_frequency
        points = replace(points, times=times)  # of a chunk without times
    _check_times(points.times)
    for quantity, values in zip(_FIELDS, points.values, strict=True):
        check_numbers(values, quantity, names, nan=False)
    degree = _degree(points.given)
    positions, velocities, accelerations, effort = points.values
    if not settings.allow_nonzero_velocity_at_trajectory_end:
        moving = np.abs(velocities[-1]) > _ZERO_VELOCITY
        if moving.any():
            joint = int(np.flatnonzero(moving)[0])
            raise CommandError(
                f"joint '{names[joint]}' has velocity {velocities[-1, joint]:g} at the last point; "
                "it must be 0 unless allow_nonzero_velocity_at_trajectory_end is set"
            )
    joints.check_interface(indices, EFFORT, (effort != 0).any(axis=0))
    positions, clamped = joints.clamp(indices, positions, out_of_limits)
    waypoints = Waypoints(
        times=points.times, q=positions, dq=velocities, ddq=accelerations, tau=effort, degree=degree
    )
    curve = None
    if is_chunk:
        curve = chunk_curve(waypoints)
    elif len(points.times) > 1:
        curve = spline(waypoints)
    return Trajectory(
        joints=indices,
        start=start,
        points=waypoints,
        curve=curve,
        tolerances=tolerances(joints, settings, indices),
        clamped=clamped,
        path="blended" if is_chunk else "stepped" if stepped else "lead_in",
        blend_time=settings.blend_time if is_chunk else 0.0,
    )


def hold_trajectory(joints: ControlledJoints, names: Sequence[str]) -> Trajectory:
    """Return the trajectory without points that stops named joints, or all that take positions."""
    among = joints.with_interface(POSITION)
    indices = joints.find(names, among) if names else np.array(among, dtype=np.intp)
    none = np.empty((0, len(indices)))
    return Trajectory(
        joints=indices,
        start=None,
        points=Waypoints(times=none[:, 0], q=none, dq=none, ddq=none, tau=none, degree=none[:, 0]),
        curve=None,
        tolerances=Tolerances.unbounded(len(indices)),
    )


def tolerances(
    joints: ControlledJoints,
    settings: TrajectorySettings,
    indices: np.ndarray,
    path: Sequence[JointTolerance] = (),
    goal: Sequence[JointTolerance] = (),
    goal_time: float = 0.0,
) -> Tolerances:
    """Return the tolerances of a trajectory of the joints `indices` (k,), by default the settings'.

    The time tolerance is in seconds; 0 is the default, -1 unbounded.
    """
    found = {}
    for kind, given, positions, velocity in (
        ("path", path, settings.trajectory, 0.0),
        ("goal", goal, settings.goal, settings.stopped_velocity_tolerance),
    ):
        values = np.stack([positions[indices], np.full(len(indices), velocity)])
        for tolerance in given:
            row = _row(joints, indices, tolerance.name, kind)
            where = f"{kind}_tolerance of joint '{tolerance.name}'"
            values[0, row] = _tolerance(tolerance.position, values[0, row], f"{where}: position")
            values[1, row] = _tolerance(tolerance.velocity, values[1, row], f"{where}: velocity")
            if tolerance.acceleration > 0:
                raise CommandError(f"{where}: acceleration is not measured")
            _tolerance(tolerance.acceleration, 0.0, f"{where}: acceleration")
        found[kind] = np.where(values > 0, values, np.inf)
    time = _tolerance(goal_time, settings.goal_time, "goal_time_tolerance")
    return Tolerances(path=found["path"], goal=found["goal"], goal_time=time)


def _row(joints: ControlledJoints, indices: np.ndarray, name: str, kind: str) -> int:
    """Return the position of a joint among the joints of the trajectory."""
    rows = np.flatnonzero(indices == joints.find([name])[0])
    if not rows.size:
        raise JointError(
            f"{kind}_tolerance is for joint '{name}', which the trajectory leaves out; "
            f"it has: {', '.join(joints.names[i] for i in indices)}"
        )
    return int(rows[0])


def _tolerance(value: float, default: float, name: str) -> float:
    if value == 0:
        return default
    if value == -1:
        return 0.0
    if not 0 < value <= _LARGEST_TOLERANCE:
        raise CommandError(
            f"{name} is {value:g}; it must be positive and at most {_LARGEST_TOLERANCE:g}, "
            "0 (default) or -1 (none)"
        )
    return value


def _indices(
    joints: ControlledJoints, settings: TrajectorySettings, names: Sequence[str]
) -> np.ndarray:
    if not names:
        raise JointError("the trajectory has points, but names no joints")
    among = joints.with_interface(POSITION)
    indices = joints.find(names, among)
    if len(indices) < len(among) and not settings.allow_partial_joints_goal:
        missing = [joints.names[i] for i in among if i not in indices]
        raise JointError(
            f"the trajectory lacks the joints {', '.join(missing)}, and "
            "allow_partial_joints_goal is not set"
        )
    return indices


def _check_times(times: np.ndarray) -> None:
    if not np.isfinite(times).all():
        i = int(np.flatnonzero(~np.isfinite(times))[0])
        raise CommandError(f"time_from_start of point {i} is {times[i]:g}; it must be finite")
    if times[0] < 0:
        raise CommandError(f"time_from_start of point 0 is negative: {times[0]:g} s")
    wrong = np.flatnonzero(np.diff(times) <= 0)
    if wrong.size:
        i = int(wrong[0])
        raise CommandError(
            f"times must rise from point to point: point {i} is at {times[i]:g} s and "
            f"point {i + 1} at {times[i + 1]:g} s"
        )


def _degree(given: np.ndarray) -> np.ndarray:
    """Return the degree of each point by its fields."""
    position, velocity, acceleration, _effort = given
    for wrong, problem in (
        (~position, "no positions"),
        (acceleration & ~velocity, "accelerations, but no velocities"),
    ):
        if wrong.any():
            raise CommandError(f"point {int(np.flatnonzero(wrong)[0])} has {problem}")
    return np.where(acceleration, 5, np.where(velocity, 3, 1))


def check_speed_scaling(factor: float) -> None:
    """Reject a speed of trajectories that is neither 0 nor in the range of `SPEED_SCALING`."""
    slowest, fastest = SPEED_SCALING
    if factor != 0.0 and not slowest <= factor <= fastest:
        raise CommandError(
            f"speed scaling factor {factor:g}; it must be 0, or from {slowest:g} to {fastest:g}"
        )
