"""Joint trajectory controller of one robot, equivalent to that of ros2_controllers."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mujoco_ros.control.events import (
    CommandRejected,
    CommandSource,
    Event,
    GoalEnded,
    GoalProgress,
    GoalStarted,
    Outcome,
)
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.references import References
from mujoco_ros.control.settings import TrajectorySettings
from mujoco_ros.control.trajectory.follower import TrajectoryFollower
from mujoco_ros.control.trajectory.trajectory import Tolerances, Trajectory

_NOTABLE = 0.02
"""Position error at the goal that the result mentions if no tolerance is set [rad or m]."""
_ROUNDING_S = 1e-9
"""Tolerance for the rounding of summed times, far below any timestep."""


class _Measured(NamedTuple):
    """Simulated time [s], and the positions and velocities measured then.  # (n,) each."""

    time: float
    q: np.ndarray
    dq: np.ndarray


@dataclass
class _Execution:
    """A trajectory, pending or in execution, and the state of its monitoring."""

    trajectory: Trajectory
    begin: float
    tolerances: Tolerances
    goal: object | None
    has_path_tolerance: bool
    follower: TrajectoryFollower | None = None
    started: bool = False
    next_feedback: float = 0.0


class TrajectoryController:
    """Executes trajectories and monitors the newest one.

    A new trajectory ends the goal of the previous one. The previous trajectories are executed until
    the new one starts; joints that it leaves out stay on them.
    """

    def __init__(
        self,
        joints: ControlledJoints,
        references: References,
        settings: TrajectorySettings,
        emit: Callable[[Event], None],
    ) -> None:
        """Start without a trajectory; `emit` is called with each event."""
        self.settings = settings
        self._joints = joints
        self._references = references
        self._emit = emit
        self._any_continuous = bool(joints.continuous.any())
        self._followers: list[TrajectoryFollower] = []
        self._newest: _Execution | None = None
        self._pending: list[_Execution] = []  # older ones that start before the newest, in order
        self._led = np.zeros(len(joints.names), dtype=bool)  # moved by this controller last
        self._acceleration = np.zeros(len(joints.names))

    @property
    def busy(self) -> bool:
        """Whether `update` is needed."""
        return bool(self._followers) or self._newest is not None or bool(self._pending)

    def is_idle(self, _joints: np.ndarray, _time: float) -> bool:
        """Return whether all trajectories are complete."""
        return not self.busy

    def accept(
        self, trajectory: Trajectory, tolerances: Tolerances, goal: object | None, time: float
    ) -> None:
        """Execute a trajectory, which must not end in the past, from its start on."""
        begin = time if trajectory.start is None else max(trajectory.start, time)
        if self._newest is not None and self._newest.follower is None:
            self._pending.append(self._newest)
        self._pending = [execution for execution in self._pending if execution.begin < begin]
        self._end(Outcome.INVALID_GOAL, "preempted by a new trajectory")
        has_path_tolerance = bool(np.isfinite(tolerances.path).any())
        self._newest = _Execution(trajectory, begin, tolerances, goal, has_path_tolerance)
        if begin > time:
            # The previous owner of these joints released them: they hold until the start.
            followed = {int(joint) for follower in self._followers for joint in follower.joints}
            for joint in set(trajectory.joints.tolist()) - followed:
                self._references.dq[joint] = 0.0

    def hold(self, joints: np.ndarray, goal: object | None = None) -> None:
        """Stop `joints` at their references, as an empty trajectory requests."""
        self.release(joints, "preempted by an empty trajectory, which means hold")
        self._references.dq[joints] = 0.0
        if goal is not None:
            self._emit(GoalStarted(goal=goal))
            self._emit(GoalEnded(goal=goal, outcome=Outcome.SUCCESSFUL, message="holding position"))

    def cancel(self, goal: object) -> None:
        """Stop at the references if `goal` is active."""
        if self._newest is not None and self._newest.goal == goal:
            self._end(Outcome.CANCELED, "canceled: holding position")
            self._stop_all()

    def release(self, joints: np.ndarray, reason: str) -> None:
        """Release `joints`; a goal that needs them ends for that `reason`."""
        self._release_followers(joints)
        self._led[joints] = False
        self._pending = [
            execution
            for execution in self._pending
            if not np.isin(execution.trajectory.joints, joints).any()
        ]
        newest = self._newest
        if newest is None or not np.isin(newest.trajectory.joints, joints).any():
            return
        self._end(Outcome.INVALID_GOAL, reason)
        if newest.goal is not None and newest.follower in self._followers:
            stopped = newest.follower.joints
            self._references.dq[stopped] = 0.0
            self._release_followers(stopped)

    def reset(self, reason: str) -> None:
        """Drop all trajectories; a goal ends for that `reason`."""
        self._followers.clear()
        self._pending.clear()
        self._led[:] = False
        self._end(Outcome.INVALID_GOAL, reason)

    def save_state(self) -> Any:
        """Return a copy of the state without goals, for `restore_state`."""
        newest = None if self._newest is None else replace(self._newest, goal=None)
        pending = [replace(execution, goal=None) for execution in self._pending]
        return self._copied((self._followers, newest, pending, self._led))

    def restore_state(self, state: Any) -> None:
        """Continue from a saved state; no goal may be active."""
        self._followers, self._newest, self._pending, self._led = self._copied(state)

    def _copied(self, state: Any) -> Any:
        return deepcopy(state, {id(self._references): self._references})  # which are shared

    def update(self, time: float, q: np.ndarray, dq: np.ndarray) -> None:
        """Write the references of the step at `time` [s]; monitor the measured q and dq (n,)."""
        for follower in self._followers:
            follower.update(time)
        while self._pending and time >= self._pending[0].begin:
            self._start(self._pending.pop(0), time)
        if self._newest is not None:
            self._monitor(self._newest, _Measured(time, q, dq))
        self._prune()

    def accelerations(self, time: float) -> np.ndarray:
        """Return the acceleration of the references; the next call overwrites it.  # (n,)"""
        self._acceleration[:] = 0.0
        for follower in self._followers:
            self._acceleration[follower.joints] = follower.acceleration(time)
        return self._acceleration

    def elapsed(self, time: float) -> float:
        """Return the time since the newest trajectory started [s]; 0 without one."""
        return time - self._followers[-1].start if self._followers else 0.0

    def _monitor(self, newest: _Execution, measured: _Measured) -> None:
        time = measured.time
        if not newest.started:
            newest.started = True
            if newest.goal is not None:
                self._emit(GoalStarted(goal=newest.goal))
        if time < newest.begin:
            return
        follower = newest.follower or self._start(newest, time)
        is_over = time >= follower.end and time > follower.begin
        if newest.has_path_tolerance and not is_over:
            path = newest.tolerances.path
            if violation := self._violation(newest.trajectory.joints, path, measured):
                message = f"path tolerance violated: {violation}"
                self._abort(newest, Outcome.PATH_TOLERANCE_VIOLATED, message, measured.q)
                return
        if newest.goal is not None and time >= newest.next_feedback:
            newest.next_feedback = time + 1.0 / self.settings.action_monitor_rate - _ROUNDING_S
            self._emit_feedback(newest, follower, measured)
        if time >= follower.end:
            self._finish(newest, follower, measured)

    def _start(self, execution: _Execution, time: float) -> TrajectoryFollower:
        trajectory = execution.trajectory
        follower = TrajectoryFollower(
            trajectory, self._joints, self._references, self.accelerations(time), time
        )
        for older in self._followers:
            older.release(trajectory.joints)
        self._followers.append(follower)
        self._led[trajectory.joints] = True
        execution.follower = follower
        follower.update(time)
        return follower

    def _finish(
        self, newest: _Execution, follower: TrajectoryFollower, measured: _Measured
    ) -> None:
        """Check the goal tolerances after the last waypoint."""
        if newest.goal is None:
            self._newest = None
            return
        goal, allowed = newest.tolerances.goal, newest.tolerances.goal_time
        violation = self._violation(newest.trajectory.joints, goal, measured)
        if not violation:
            self._end(Outcome.SUCCESSFUL, self._success_message(newest, measured))
            return
        late = measured.time - follower.end
        if allowed and late > allowed:
            message = f"goal not reached within the goal_time_tolerance of {allowed:g} s: "
            self._abort(newest, Outcome.GOAL_TOLERANCE_VIOLATED, message + violation, measured.q)

    def _success_message(self, newest: _Execution, measured: _Measured) -> str:
        """Return the message of a reached goal, with notable errors where no tolerance is set."""
        joints = newest.trajectory.joints
        allowed = np.full((2, len(joints)), np.inf)
        allowed[0] = np.where(np.isinf(newest.tolerances.goal[0]), _NOTABLE, np.inf)
        worst = self._worst(joints, allowed, measured)
        if worst is None:
            return "goal reached"
        return f"trajectory completed; {worst[0]}, and no goal tolerance is set"

    def _violation(self, joints: np.ndarray, allowed: np.ndarray, measured: _Measured) -> str:
        """Return a description of the worst error beyond `allowed` (2, k); empty without one."""
        worst = self._worst(joints, allowed, measured)
        return "" if worst is None else f"{worst[0]}, allowed is {worst[1]:.6g}"

    def _worst(
        self, joints: np.ndarray, allowed: np.ndarray, measured: _Measured
    ) -> tuple[str, float] | None:
        """Return the worst error beyond `allowed` (2, k), as text, and its tolerance."""
        references = self._references
        for row, (reference, actual, quantity) in enumerate(
            ((references.q, measured.q, "position"), (references.dq, measured.dq, "velocity"))
        ):
            if allowed[row].min() == np.inf:
                continue
            error = reference[joints] - actual[joints]
            if row == 0 and self._any_continuous:
                wrapped = np.remainder(error + np.pi, 2 * np.pi) - np.pi
                error = np.where(self._joints.continuous[joints], wrapped, error)
            beyond = np.abs(error) > allowed[row]
            if beyond.any():
                worst = int(np.argmax(np.where(beyond, np.abs(error) / allowed[row], 0.0)))
                joint, off = self._joints.names[joints[worst]], abs(error[worst])
                text = f"{quantity} of joint '{joint}' is off by {off:.6g}"
                return text, float(allowed[row, worst])
        return None

    def _emit_feedback(
        self, newest: _Execution, follower: TrajectoryFollower, measured: _Measured
    ) -> None:
        references, time = self._references, measured.time
        desired = np.stack([references.q, references.dq, self.accelerations(time)])
        self._emit(
            GoalProgress(
                goal=newest.goal,
                time=time,
                since_start=time - follower.start,
                index=follower.index,
                desired=desired,
                actual=np.stack([measured.q, measured.dq]),
            )
        )

    def _abort(self, newest: _Execution, outcome: Outcome, message: str, q: np.ndarray) -> None:
        """End the newest trajectory after a violation; its joints hold their measured positions."""
        joints = newest.trajectory.joints
        if newest.goal is None:
            self._emit(
                CommandRejected(
                    source=CommandSource.TRAJECTORY, message=f"{message}; holding the position"
                )
            )
        self._end(outcome, message)
        self._stop_all()
        self._references.q[joints] = q[joints]
        self._references.values[1:, joints] = 0.0

    def _end(self, outcome: Outcome, message: str) -> None:
        """End the monitoring of the newest trajectory and report the outcome of its goal."""
        newest, self._newest = self._newest, None
        if newest is not None and newest.goal is not None:
            self._emit(GoalEnded(goal=newest.goal, outcome=outcome, message=message))

    def _stop_all(self) -> None:
        self._references.dq[self._led] = 0.0
        self._followers.clear()
        self._pending.clear()

    def _release_followers(self, joints: np.ndarray) -> None:
        for follower in self._followers:
            follower.release(joints)
        self._prune()

    def _prune(self) -> None:
        self._followers = [f for f in self._followers if not f.finished and len(f.joints)]
