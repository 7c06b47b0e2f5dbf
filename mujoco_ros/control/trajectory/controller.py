"""Joint trajectory controller of one robot, equivalent to ros2_controllers' own."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from mujoco_ros.control.events import (
    ActionGoal,
    CommandError,
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
from mujoco_ros.control.trajectory.execution import Execution, Measured
from mujoco_ros.control.trajectory.follower import (
    TrackingErrors,
    TrajectoryFollower,
    stop_trajectory,
)
from mujoco_ros.control.trajectory.trajectory import Trajectory

_ROUNDING_S = 1e-9  # tolerance for the rounding of summed times, far below any timestep


class TrajectoryController:
    """Executes trajectories and monitors the newest one.

    A new trajectory ends the goal of the previous one. The previous trajectories are executed until
    the new one starts; joints that it leaves out stay on them, also if they start later.
    """

    def __init__(
        self,
        joints: ControlledJoints,
        references: References,
        settings: TrajectorySettings,
        emit: Callable[[Event], None],
        name: str = CommandSource.TRAJECTORY,
    ) -> None:
        self.settings = settings
        self._name = name
        self._joints = joints
        self._references = references
        self._emit = emit
        self._errors = TrackingErrors(joints, references)
        self._followers: list[TrajectoryFollower] = []
        self._newest: Execution | None = None
        self._pending: list[Execution] = []  # older ones that have not started, in that order
        self._led = np.zeros(len(joints.names), dtype=bool)  # moved by this controller last
        self._taken: set[int] = set()  # joints that begin at their measured positions
        self._decelerating = False  # from the next step on
        self._scaling: float | None = None
        self._acceleration = np.zeros(len(joints.names))

    @property
    def busy(self) -> bool:
        """Whether `update` is needed."""
        return bool(self._followers) or self._newest is not None or bool(self._pending)

    @property
    def speed_scaling(self) -> float:
        """Trajectory time per simulated time."""
        return self.settings.initial_scaling_factor if self._scaling is None else self._scaling

    def scale_speed(self, factor: float) -> None:
        """Execute trajectories, also the present ones, at a checked factor of their speed."""
        self._scaling = factor

    def is_idle(self, _joints: np.ndarray, _time: float) -> bool:
        """Return whether all trajectories are complete."""
        newest = self._newest
        is_waiting = newest is not None and (newest.goal is not None or newest.follower is None)
        return not (self._followers or self._pending or is_waiting)

    def refuses_late(self, trajectory: Trajectory, time: float) -> bool:
        """Return whether a trajectory ends in the past; reject it then by an event."""
        try:
            trajectory.check_in_time(time)
        except CommandError as error:
            if trajectory.goal is None:
                self._emit(CommandRejected(source=self._name, message=str(error)))
            else:
                late, goal = Outcome.OLD_HEADER_TIMESTAMP, trajectory.goal
                self._emit(GoalEnded(goal=goal, outcome=late, message=str(error)))
            return True
        return False

    def accept(self, trajectory: Trajectory, time: float) -> None:
        """Execute a trajectory, which must not end in the past, from its start on."""
        begin = time if trajectory.start is None else max(trajectory.start, time)
        if self._newest is not None and self._newest.follower is None:
            self._pending.append(self._newest)
        self._pending.sort(key=lambda execution: execution.begin)
        self._release_pending(trajectory.joints, since=begin)
        self._end(Outcome.INVALID_GOAL, "preempted by a new trajectory")
        path, joints = trajectory.tolerances.path, trajectory.joints
        self._newest = Execution(trajectory, begin, joints, path)
        if not self.settings.set_last_command_interface_value_as_state_on_activation:
            self._taken.update(trajectory.joints[~self._led[trajectory.joints]].tolist())
        self._led[trajectory.joints] = True
        if begin > time:
            # The previous owner of these joints released them: they hold until the start.
            followed = {int(joint) for follower in self._followers for joint in follower.joints}
            for joint in set(trajectory.joints.tolist()) - followed:
                self._references.dq[joint] = 0.0

    def hold(self, trajectory: Trajectory) -> None:
        """Stop the joints of an empty trajectory at their references."""
        joints, goal = trajectory.joints, trajectory.goal
        self.release(joints, "preempted by an empty trajectory, which means hold")
        self._references.dq[joints] = 0.0
        if goal is not None:
            self._emit(GoalStarted(goal=goal))
            self._emit(GoalEnded(goal=goal, outcome=Outcome.SUCCESSFUL, message="holding position"))

    def cancel(self, goal: ActionGoal) -> None:
        """Stop, from the references on, if `goal` is active."""
        if self._newest is None or self._newest.goal != goal:
            return
        if self._followers and self.settings.decelerate_on_cancel:
            self._end(Outcome.CANCELED, "canceled: decelerating")
            self._pending.clear()
            self._decelerating = True
        else:
            self._end(Outcome.CANCELED, "canceled: holding position")
            self._stop_all()

    def release(self, joints: np.ndarray, reason: str) -> None:
        """Release `joints`; a goal that needs them ends for that `reason`.

        Trajectories without a goal continue with their other joints.
        """
        self._release_followers(joints)
        self._led[joints] = False
        self._taken.difference_update(joints.tolist())
        self._release_pending(joints)
        newest = self._newest
        if newest is None or not np.isin(newest.joints, joints).any():
            return
        if newest.goal is None:
            newest.release(joints)
            if not newest.joints.size:
                self._newest = None
            return
        self._end(Outcome.INVALID_GOAL, reason)
        if newest.follower in self._followers:
            stopped = newest.follower.joints
            self._references.dq[stopped] = 0.0
            self._release_followers(stopped)

    def reset(self, reason: str) -> None:
        """Drop all trajectories; a goal ends for that `reason`."""
        self._followers.clear()
        self._pending.clear()
        self._taken.clear()
        self._led[:] = self._decelerating = False
        self._scaling = None
        self._end(Outcome.INVALID_GOAL, reason)

    def save_state(self) -> Any:
        """Return a copy of the state without goals, for `restore_state`."""
        newest = None if self._newest is None else self._newest.without_goal()
        pending = [execution.without_goal() for execution in self._pending]
        flags = (self._led, self._taken, self._decelerating, self._scaling)
        return self._copied((self._followers, newest, pending, flags))

    def restore_state(self, state: Any) -> None:
        """Continue from a saved state; no goal may be active."""
        self._followers, self._newest, self._pending, flags = self._copied(state)
        self._led, self._taken, self._decelerating, self._scaling = flags

    def _copied(self, state: Any) -> Any:
        return deepcopy(state, {id(self._references): self._references})  # which are shared

    def update(self, time: float, q: np.ndarray, dq: np.ndarray) -> None:
        """Write the references of the step at `time` [s]; monitor the measured q and dq (n,)."""
        scaling = self.speed_scaling
        for follower in self._followers:
            follower.update(time, scaling)
        measured = Measured(time, q, dq)
        if self._taken:
            self._hold_measured(np.array(sorted(self._taken)), q)
            self._taken.clear()
        if self._decelerating:
            self._decelerating = False
            self._decelerate(np.zeros(0, dtype=np.intp), time)
        while self._pending and time >= self._pending[0].begin:
            self._start(self._pending.pop(0), measured)
        if self._newest is not None:
            self._monitor(self._newest, measured)
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

    def _monitor(self, newest: Execution, measured: Measured) -> None:
        time, q, dq = measured
        if not newest.started:
            newest.started = True
            if newest.goal is not None:
                self._emit(GoalStarted(goal=newest.goal))
        if time < newest.begin:
            return
        follower = newest.follower or self._start(newest, measured)
        is_over = time >= follower.end and time > follower.begin
        violation = ""
        if newest.has_path_tolerance and not is_over:
            violation = self._errors.violation(newest.joints, newest.path_tolerance, q, dq)
        if violation:
            message = f"path tolerance violated: {violation}"
            self._abort(newest, Outcome.PATH_TOLERANCE_VIOLATED, message, measured)
            return
        if newest.goal is not None and time >= newest.next_feedback:
            newest.next_feedback = time + 1.0 / self.settings.action_monitor_rate - _ROUNDING_S
            self._emit_feedback(newest.goal, follower, measured)
        if time >= follower.end:
            self._finish(newest, follower, measured)

    def _start(self, execution: Execution, measured: Measured) -> TrajectoryFollower:
        if not self.settings.interpolate_from_desired_state:
            moving = {
                joint
                for follower in self._followers
                if not follower.finished
                for joint in follower.joints.tolist()
            }
            resting = np.array([i for i in execution.joints.tolist() if i not in moving], int)
            self._references.q[resting] = measured.q[resting]
            self._references.dq[resting] = measured.dq[resting]
        execution.follower = self._follow(
            execution.trajectory.restrict(execution.joints), measured.time
        )
        return execution.follower

    def _follow(self, trajectory: Trajectory, time: float) -> TrajectoryFollower:
        """Follow a trajectory from now on, instead of its joints' previous ones."""
        scaling, acceleration = self.speed_scaling, self.accelerations(time)
        follower = TrajectoryFollower(
            trajectory, self._joints, self._references, acceleration, time, scaling
        )
        for older in self._followers:
            older.release(trajectory.joints)
        self._followers.append(follower)
        self._led[trajectory.joints] = True
        follower.update(time, scaling)
        return follower

    def _finish(self, newest: Execution, follower: TrajectoryFollower, measured: Measured) -> None:
        """Check the goal tolerances after the last waypoint, and whether another one comes."""
        late, timeout = measured.time - follower.end, self.settings.cmd_timeout
        timed_out = late > timeout > self.settings.goal_time
        if newest.goal is None:
            if timed_out:
                self._references.dq[follower.joints] = 0.0
                text = f"no trajectory in the cmd_timeout of {timeout:g} s; holding the position"
                self._emit(CommandRejected(source=self._name, message=text))
            if timed_out or timeout <= self.settings.goal_time:
                self._newest = None
            return
        joints, tolerances = newest.trajectory.joints, newest.trajectory.tolerances
        goal, allowed = tolerances.goal, tolerances.goal_time
        violation = self._errors.violation(joints, goal, measured.q, measured.dq)
        if not violation:
            message = self._errors.success(joints, goal, measured.q, measured.dq)
            self._end(Outcome.SUCCESSFUL, message)
            return
        limit = f"goal_time_tolerance of {allowed:g}" if allowed else f"cmd_timeout of {timeout:g}"
        if (allowed and late > allowed) or timed_out:
            message = f"goal not reached within the {limit} s: {violation}"
            self._abort(newest, Outcome.GOAL_TOLERANCE_VIOLATED, message, measured)

    def _emit_feedback(
        self, goal: ActionGoal, follower: TrajectoryFollower, measured: Measured
    ) -> None:
        references, time = self._references, measured.time
        desired = np.stack([references.q, references.dq, self.accelerations(time)])
        self._emit(
            GoalProgress(
                goal=goal,
                time=time,
                since_start=time - follower.start,
                index=follower.index,
                desired=desired,
                actual=np.stack([measured.q, measured.dq]),
            )
        )

    def _abort(self, newest: Execution, outcome: Outcome, message: str, measured: Measured) -> None:
        """End all trajectories after a violation of the newest one.

        Its joints stop where they are measured, the others at their references.
        """
        joints = newest.joints
        if newest.goal is None:
            self._emit(
                CommandRejected(source=self._name, message=f"{message}; holding the position")
            )
        self._end(outcome, message)
        self._hold_measured(joints, measured.q)
        if self.settings.decelerate_on_cancel:
            self._references.dq[joints] = measured.dq[joints]
            self._decelerate(joints, measured.time)
        else:
            self._stop_all()

    def _end(self, outcome: Outcome, message: str) -> None:
        """End the monitoring of the newest trajectory and report the outcome of its goal."""
        newest, self._newest = self._newest, None
        if newest is not None and newest.goal is not None:
            self._emit(GoalEnded(goal=newest.goal, outcome=outcome, message=message))

    def _hold_measured(self, joints: np.ndarray, q: np.ndarray) -> None:
        self._references.q[joints] = q[joints]
        self._references.values[1:, joints] = 0.0

    def _decelerate(self, joints: np.ndarray, time: float) -> None:
        """Decelerate `joints` and all that it moves, from their references on."""
        moved = [follower.joints for follower in self._followers]
        stop = stop_trajectory(
            np.unique(np.concatenate([joints, *moved])),
            self._references,
            self.settings.max_deceleration_on_cancel,
        )
        if stop is None:
            self._stop_all()
            return
        self._followers.clear()
        self._pending.clear()
        self._follow(stop, time)

    def _stop_all(self) -> None:
        self._references.dq[self._led] = 0.0
        self._followers.clear()
        self._pending.clear()

    def _release_pending(self, joints: np.ndarray, since: float = -np.inf) -> None:
        """Release `joints` of pending trajectories that begin at a time [s] or later."""
        for execution in self._pending:
            if execution.begin >= since:
                execution.release(joints)
        self._pending = [execution for execution in self._pending if execution.joints.size]

    def _release_followers(self, joints: np.ndarray) -> None:
        for follower in self._followers:
            follower.release(joints)
        self._prune()
        self._decelerating &= bool(self._followers)

    def _prune(self) -> None:
        self._followers = [f for f in self._followers if not f.finished and len(f.joints)]
