"""Joint trajectories, checked and ready to be followed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mujoco_ros.control.errors import CommandError, JointError, LateError
from mujoco_ros.control.joints import Clamped, ControlledJoints, check_numbers
from mujoco_ros.control.modes import EFFORT, POSITION
from mujoco_ros.control.settings import OutOfLimits, TrajectorySettings
from mujoco_ros.control.trajectory.spline import Spline, Waypoints, spline

_FIELDS = ("positions", "velocities", "accelerations", "effort")
# As ros2_controllers: a float's resolution.
_STANDS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True, kw_only=True)
class PointArrays:
    """The points of a trajectory message as arrays.

    Attributes:
        times: ``time_from_start`` [s].  # (m,)
        values: Positions, velocities, accelerations, efforts; 0 where not given.  # (4, m, k)
        given: Which of the four a point carries.  # (4, m) bool
    """

    times: np.ndarray
    values: np.ndarray
    given: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """Where some joints of a robot shall go.

    Attributes:
        joints: Indices of the joints.  # (k,)
        start: Simulated time of its start [s]; None is as soon as it is taken.
        points: Its waypoints, times counted from the start.
        curve: The spline through them; None for a single waypoint.
        clamped: Which positions were moved into the joints' limits.
    """

    joints: np.ndarray
    start: float | None
    points: Waypoints
    curve: Spline | None
    clamped: Clamped

    @property
    def duration(self) -> float:
        """Time from the start to the last waypoint [s]."""
        return float(self.points.times[-1])

    def check_in_time(self, time: float) -> None:
        """Refuse it if it ends before `time` [s of simulated time].

        Raises:
            LateError: It does.
        """
        if self.start is not None and (end := self.start + self.duration) < time:
            raise LateError(
                f"the trajectory ends in the past: at {end:.3f} s, and it is {time:.3f} s"
            )


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """How far joints may be off, over the joints of a trajectory; inf is as far as they like.

    Attributes:
        path: Position and velocity on the way.  # (2, k)
        goal: Position and velocity at the end.  # (2, k)
        goal_time: Time after the end in which to reach the goal [s]; 0 is unbounded.
    """

    path: np.ndarray
    goal: np.ndarray
    goal_time: float


@dataclass(frozen=True, kw_only=True)
class JointTolerance:
    """As control_msgs/JointTolerance: 0 is the default, -1 none."""

    name: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


def trajectory(
    joints: ControlledJoints,
    settings: TrajectorySettings,
    out_of_limits: OutOfLimits,
    names: Sequence[str],
    start: float | None,
    points: PointArrays,
) -> Trajectory:
    """Check a trajectory with at least one point.

    Args:
        joints: The robot's joints.
        settings: What trajectories it accepts.
        out_of_limits: What happens to positions beyond the limits.
        names: The joints of the trajectory, in the order of its values.
        start: Simulated time of its start [s]; None is as soon as it is taken.
        points: Its points.

    Raises:
        CommandError: It is wrong; the message names the joint or the point.
    """
    indices = _chosen(joints, settings, names)
    _check_times(points.times)
    for what, values in zip(_FIELDS, points.values, strict=True):
        check_numbers(values, what, names, nan=False)
    degree = _degree(points.given)
    positions, velocities, accelerations, effort = points.values
    if not settings.allow_nonzero_velocity_at_trajectory_end:
        moving = np.abs(velocities[-1]) > _STANDS
        if moving.any():
            joint = int(np.flatnonzero(moving)[0])
            raise CommandError(
                f"joint '{names[joint]}' has velocity {velocities[-1, joint]:g} at the last point; "
                "it must be 0 unless allow_nonzero_velocity_at_trajectory_end is set"
            )
    joints.check_takes(indices, EFFORT, (effort != 0).any(axis=0))
    positions, clamped = joints.limited(indices, positions, out_of_limits)
    waypoints = Waypoints(
        times=points.times, q=positions, dq=velocities, ddq=accelerations, tau=effort, degree=degree
    )
    return Trajectory(
        joints=indices,
        start=start,
        points=waypoints,
        curve=spline(waypoints) if len(points.times) > 1 else None,
        clamped=clamped,
    )


def tolerances(
    joints: ControlledJoints,
    settings: TrajectorySettings,
    indices: np.ndarray,
    path: Sequence[JointTolerance] = (),
    goal: Sequence[JointTolerance] = (),
    goal_time: float = 0.0,
) -> Tolerances:
    """Return the tolerances of a trajectory: those given, else those of the settings.

    Args:
        joints: The robot's joints.
        settings: The defaults.
        indices: The joints of the trajectory.  # (k,)
        path: Tolerances on the way.
        goal: Tolerances at the goal.
        goal_time: Time tolerance [s]; 0 is the default, -1 none.

    Raises:
        JointError: A tolerance is for a joint that is not in the trajectory.
        CommandError: A tolerance is negative and not -1, or no number.
    """
    found = {}
    defaults = {
        "path": (settings.trajectory[indices], np.zeros(len(indices))),
        "goal": (
            settings.goal[indices],
            np.full(len(indices), settings.stopped_velocity_tolerance),
        ),
    }
    for what, given in (("path", path), ("goal", goal)):
        values = np.stack(defaults[what])
        for tolerance in given:
            row = _row(joints, indices, tolerance.name, what)
            where = f"{what}_tolerance of joint '{tolerance.name}'"
            values[0, row] = _tolerance(tolerance.position, values[0, row], f"{where}: position")
            values[1, row] = _tolerance(tolerance.velocity, values[1, row], f"{where}: velocity")
            if tolerance.acceleration > 0:
                raise CommandError(f"{where}: joints report no acceleration to hold against it")
            _tolerance(tolerance.acceleration, 0.0, f"{where}: acceleration")
        found[what] = np.where(values > 0, values, np.inf)
    time = _tolerance(goal_time, settings.goal_time, "goal_time_tolerance")
    return Tolerances(path=found["path"], goal=found["goal"], goal_time=time)


def _row(joints: ControlledJoints, indices: np.ndarray, name: str, what: str) -> int:
    """Return where a joint stands among those of the trajectory."""
    rows = np.flatnonzero(indices == joints.find([name])[0])
    if not rows.size:
        raise JointError(
            f"{what}_tolerance is for joint '{name}', which the trajectory leaves out; "
            f"it has: {', '.join(joints.names[i] for i in indices)}"
        )
    return int(rows[0])


def _tolerance(value: float, default: float, what: str) -> float:
    if value == 0:
        return default
    if value == -1:
        return 0.0
    if not 0 < value < np.inf:
        raise CommandError(f"{what} is {value:g}; it must be positive, 0 (default) or -1 (none)")
    return value


def _chosen(
    joints: ControlledJoints, settings: TrajectorySettings, names: Sequence[str]
) -> np.ndarray:
    if not names:
        raise JointError("the trajectory has points, but names no joints")
    among = joints.taking(POSITION)
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
    """Return the degree of each point by the fields it carries."""
    position, velocity, acceleration, _effort = given
    for wrong, problem in (
        (~position, "no positions"),
        (acceleration & ~velocity, "accelerations, but no velocities"),
    ):
        if wrong.any():
            raise CommandError(f"point {int(np.flatnonzero(wrong)[0])} has {problem}")
    return np.where(acceleration, 5, np.where(velocity, 3, 1))
