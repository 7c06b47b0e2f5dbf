"""The joint trajectory controller of one robot, as ros2_controllers' acts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

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
"""Position error at the goal that is mentioned where no tolerance is set [rad or m]."""
_ROUNDING_S = 1e-9
"""Far below any timestep, and above what adding times up rounds away."""


@dataclass
class _Task:
    """A trajectory, whether or not it has begun, and what is watched of it."""

    trajectory: Trajectory
    begin: float
    tolerances: Tolerances
    goal: object | None
    watched: bool  # whether any joint has a tolerance on the way
    track: TrajectoryFollower | None = None
    told: bool = False
    next_progress: float = 0.0


@dataclass(frozen=True)
class _Memory:
    """What was followed at some time, without goals: their clients wait for them no more."""

    tracks: list[TrajectoryFollower]
    task: _Task | None
    waiting: list[_Task]
    led: np.ndarray

    def copy(self) -> "_Memory":
        copies = {id(track): track.copy() for track in self.tracks}

        def again(task: _Task) -> _Task:
            track = task.track
            if track is not None and id(track) not in copies:
                copies[id(track)] = track.copy()
            return replace(task, goal=None, track=None if track is None else copies[id(track)])

        return _Memory(
            tracks=[copies[id(track)] for track in self.tracks],
            task=None if self.task is None else again(self.task),
            waiting=[again(task) for task in self.waiting],
            led=self.led.copy(),
        )


class TrajectoryController:
    """Follows trajectories, and watches the newest one.

    A new trajectory ends the goal before it. Until its own start, what was to be followed is, and
    joints it leaves out go on along the older one.
    """

    def __init__(
        self,
        joints: ControlledJoints,
        references: References,
        settings: TrajectorySettings,
        emit: Callable[[Event], None],
    ) -> None:
        """Follow nothing yet; `emit` is handed what there is to tell."""
        self.settings = settings
        self._joints = joints
        self._references = references
        self._emit = emit
        self._turning = bool(joints.continuous.any())
        self._tracks: list[TrajectoryFollower] = []
        self._task: _Task | None = None  # the newest
        self._waiting: list[_Task] = []  # older ones that begin before it, in this order
        self._led = np.zeros(len(joints.names), dtype=bool)  # no one else has them since
        self._acceleration = np.zeros(len(joints.names))

    @property
    def busy(self) -> bool:
        """Return whether `update` has anything to do."""
        return bool(self._tracks) or self._task is not None or bool(self._waiting)

    def accept(
        self, trajectory: Trajectory, tolerances: Tolerances, goal: object | None, time: float
    ) -> None:
        """Follow a trajectory, which must not be over, from its start on."""
        begin = time if trajectory.start is None else max(trajectory.start, time)
        if self._task is not None and self._task.track is None:
            self._waiting.append(self._task)
        self._waiting = [task for task in self._waiting if task.begin < begin]
        self._end(Outcome.INVALID_GOAL, "preempted by a new trajectory")
        watched = bool(np.isfinite(tolerances.path).any())
        self._task = _Task(trajectory, begin, tolerances, goal, watched)
        if begin > time:
            # Whoever moved these joints has left them: they wait for the start.
            following = {int(joint) for track in self._tracks for joint in track.joints}
            for joint in set(trajectory.joints.tolist()) - following:
                self._references.dq[joint] = 0.0

    def hold(self, joints: np.ndarray, goal: object | None = None) -> None:
        """Stop `joints` where their references are, as an empty trajectory asks for."""
        self.release(joints, "preempted by an empty trajectory, which means hold")
        self._references.dq[joints] = 0.0
        if goal is not None:
            self._emit(GoalStarted(goal=goal))
            self._emit(GoalEnded(goal=goal, outcome=Outcome.SUCCESSFUL, message="holding position"))

    def cancel(self, goal: object) -> None:
        """Stop where the references are, if `goal` is still pursued."""
        if self._task is not None and self._task.goal == goal:
            self._end(Outcome.CANCELED, "canceled: holding position")
            self._freeze()

    def release(self, joints: np.ndarray, reason: str) -> None:
        """Leave `joints` to somebody else; a goal that needs them ends for that `reason`."""
        for track in self._tracks:
            track.release(joints)
        self._prune()
        self._led[joints] = False
        self._waiting = [
            waiting
            for waiting in self._waiting
            if not np.isin(waiting.trajectory.joints, joints).any()
        ]
        task = self._task
        if task is None or not np.isin(task.trajectory.joints, joints).any():
            return
        self._end(Outcome.INVALID_GOAL, reason)
        if task.goal is not None and task.track in self._tracks:
            self._stop(task.track.joints)

    def reset(self, reason: str) -> None:
        """Forget everything; a goal ends for that `reason`."""
        self._tracks.clear()
        self._waiting.clear()
        self._led[:] = False
        self._end(Outcome.INVALID_GOAL, reason)

    def memory(self) -> _Memory:
        """Return a copy of all that is followed, for `recall`; goals are not part of it."""
        return _Memory(self._tracks, self._task, self._waiting, self._led).copy()

    def recall(self, memory: _Memory) -> None:
        """Follow what was followed at the time of a `memory`; a goal must have been ended."""
        again = memory.copy()
        self._tracks, self._task, self._waiting = again.tracks, again.task, again.waiting
        self._led = again.led

    def update(self, time: float, q: np.ndarray, dq: np.ndarray) -> None:
        """Write the references of this instant and watch the newest trajectory.

        Args:
            time: Simulated time [s].
            q: Measured positions.  # (n,)
            dq: Measured velocities.  # (n,)
        """
        for track in self._tracks:
            track.update(time)
        while self._waiting and time >= self._waiting[0].begin:
            self._begin(self._waiting.pop(0), time)
        task = self._task
        if task is not None:
            self._attend(task, time, q, dq)
        self._prune()

    def accelerations(self, time: float) -> np.ndarray:
        """Return the acceleration of the references; the next call overwrites it.  # (n,)"""
        self._acceleration[:] = 0.0
        for track in self._tracks:
            self._acceleration[track.joints] = track.acceleration(time)
        return self._acceleration

    def elapsed(self, time: float) -> float:
        """Return the time since the newest trajectory started [s]; 0 where nothing is followed."""
        track = self._tracks[-1] if self._tracks else None
        return 0.0 if track is None else time - track.start

    def _attend(self, task: _Task, time: float, q: np.ndarray, dq: np.ndarray) -> None:
        if not task.told:
            task.told = True
            if task.goal is not None:
                self._emit(GoalStarted(goal=task.goal))
        if time < task.begin:
            return
        track = task.track or self._begin(task, time)
        problem = self._off_path(task, track, time, q, dq)
        if problem:
            self._abort(Outcome.PATH_TOLERANCE_VIOLATED, f"path tolerance violated: {problem}", q)
            return
        if task.goal is not None and time >= task.next_progress:
            task.next_progress = time + 1.0 / self.settings.action_monitor_rate - _ROUNDING_S
            self._tell_progress(task, track, time, q, dq)
        if time >= track.end:
            self._finish(task, track, time, q, dq)

    def _begin(self, task: _Task, time: float) -> TrajectoryFollower:
        trajectory = task.trajectory
        track = TrajectoryFollower(
            trajectory, self._joints, self._references, self.accelerations(time), time
        )
        for older in self._tracks:
            older.release(trajectory.joints)
        self._tracks.append(track)
        self._led[trajectory.joints] = True
        task.track = track
        track.update(time)
        return track

    def _finish(
        self, task: _Task, track: TrajectoryFollower, time: float, q: np.ndarray, dq: np.ndarray
    ) -> None:
        """The last waypoint is behind: the goal is reached, or to be waited for, or missed."""
        if task.goal is None:
            self._task = None
            return
        problem = self._violation(task.trajectory.joints, task.tolerances.goal, q, dq)
        if not problem:
            self._end(Outcome.SUCCESSFUL, self._reached(task, q, dq))
            return
        late, allowed = time - track.end, task.tolerances.goal_time
        if allowed and late > allowed:
            self._abort(
                Outcome.GOAL_TOLERANCE_VIOLATED,
                f"goal not reached within the goal_time_tolerance of {allowed:g} s: {problem}",
                q,
            )

    def _reached(self, task: _Task, q: np.ndarray, dq: np.ndarray) -> str:
        """Say that a goal is reached; where nobody said how closely, what is far from it."""
        joints = task.trajectory.joints
        allowed = np.full((2, len(joints)), np.inf)
        allowed[0] = np.where(np.isinf(task.tolerances.goal[0]), _NOTABLE, np.inf)
        far = self._worst(joints, allowed, q, dq)
        if far is None:
            return "goal reached"
        return f"trajectory completed; {far[0]}, and no goal tolerance is set"

    def _off_path(
        self, task: _Task, track: TrajectoryFollower, time: float, q: np.ndarray, dq: np.ndarray
    ) -> str:
        if not task.watched or (time >= track.end and time > track.begin):
            return ""
        return self._violation(task.trajectory.joints, task.tolerances.path, q, dq)

    def _violation(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> str:
        """Say which joint is further off than `allowed` (2, k); empty if none is."""
        worst = self._worst(joints, allowed, q, dq)
        return "" if worst is None else f"{worst[0]}, allowed is {worst[1]:.6g}"

    def _worst(
        self, joints: np.ndarray, allowed: np.ndarray, q: np.ndarray, dq: np.ndarray
    ) -> tuple[str, float] | None:
        """Say by how much a joint is further off than `allowed` (2, k), and what is allowed."""
        references = self._references
        for row, (reference, measured, what) in enumerate(
            ((references.q, q, "position"), (references.dq, dq, "velocity"))
        ):
            if allowed[row].min() == np.inf:
                continue
            error = reference[joints] - measured[joints]
            if row == 0 and self._turning:
                wrapped = np.remainder(error + np.pi, 2 * np.pi) - np.pi
                error = np.where(self._joints.continuous[joints], wrapped, error)
            beyond = np.abs(error) > allowed[row]
            if beyond.any():
                worst = int(np.argmax(np.where(beyond, np.abs(error) / allowed[row], 0.0)))
                joint, off = self._joints.names[joints[worst]], abs(error[worst])
                return f"{what} of joint '{joint}' is off by {off:.6g}", float(allowed[row, worst])
        return None

    def _tell_progress(
        self, task: _Task, track: TrajectoryFollower, time: float, q: np.ndarray, dq: np.ndarray
    ) -> None:
        references = self._references
        desired = np.stack([references.q, references.dq, self.accelerations(time)])
        self._emit(
            GoalProgress(
                goal=task.goal,
                time=time,
                since_start=time - track.start,
                index=track.index,
                desired=desired,
                actual=np.stack([q, dq]),
            )
        )

    def _abort(self, outcome: Outcome, message: str, q: np.ndarray) -> None:
        """End the newest trajectory because its joints are off, and hold them where they are."""
        task = self._task
        if task is None:
            return
        joints = task.trajectory.joints
        if task.goal is None:
            self._emit(
                CommandRejected(
                    source=CommandSource.TRAJECTORY, message=f"{message}; holding the position"
                )
            )
        self._end(outcome, message)
        self._freeze()
        self._references.q[joints] = q[joints]
        self._references.values[1:, joints] = 0.0

    def _end(self, outcome: Outcome, message: str) -> None:
        """Stop watching, and tell the goal's client, if there is one."""
        task, self._task = self._task, None
        if task is not None and task.goal is not None:
            self._emit(GoalEnded(goal=task.goal, outcome=outcome, message=message))

    def _freeze(self) -> None:
        self._references.dq[self._led] = 0.0
        self._tracks.clear()
        self._waiting.clear()

    def _stop(self, joints: np.ndarray) -> None:
        self._references.dq[joints] = 0.0
        for track in self._tracks:
            track.release(joints)
        self._prune()

    def _prune(self) -> None:
        self._tracks = [t for t in self._tracks if not t.finished and len(t.joints)]
