"""Gripper controller of one robot, equivalent to ros2_controllers' parallel_gripper_controller."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.control.events import (
    ActionGoal,
    CommandError,
    Event,
    GoalEnded,
    GoalProgress,
    GoalStarted,
    Outcome,
)
from mujoco_ros.control.joints import Clamped, ControlledJoints, GripperServo, check_numbers
from mujoco_ros.control.settings import GripperSettings, OutOfLimits

_FEEDBACK_PERIOD_S = 0.05
"""Period of feedback: ros2_controllers' default action_monitor_rate of 20 Hz."""
_INTERVALS = 20
"""Intervals of the time-out of a stall over which positions are averaged."""
_SAVED = ("_moving", "_target", "_speed")


@dataclass(frozen=True, kw_only=True)
class GripperCommand:
    """A checked command."""

    position: float  # goal position of the gripper's joint or tendon [m or rad]
    velocity: float = 0.0  # largest speed of the reference [m/s or rad/s]; 0 is the setting's
    effort: float = 0.0  # largest effort [N or Nm]; 0 is the setting's
    # Whether the position was clamped to the limits
    clamped: Clamped = field(default_factory=Clamped)
    goal: ActionGoal | None = None  # the goal of an action client that it executes


def gripper_command(
    joints: ControlledJoints,
    out_of_limits: OutOfLimits,
    names: list[str],
    position: list[float],
    velocity: list[float],
    effort: list[float],
) -> GripperCommand:
    """Return a checked command; velocity and effort may be empty."""
    if not joints.has_gripper:
        raise CommandError("the robot has no gripper")
    joint, kind = joints.gripper_name, "joint" if joints.tendon is None else "tendon"
    accepted = {joint, *(() if joints.tendon is None else joints.tendon.actuators)}
    if names and not (len(names) == 1 and names[0] in accepted):
        raise CommandError(f"the gripper's {kind} is '{joint}', not '{', '.join(names)}'")
    if len(position) != 1:
        raise CommandError(f"a gripper command has 1 position, got {len(position)}")
    values = {"position": position[0]}
    for name, given in (("velocity", velocity), ("effort", effort)):
        if len(given) > 1:
            raise CommandError(f"a gripper command has at most 1 {name}, got {len(given)}")
        values[name] = given[0] if given else 0.0
    for name, value in values.items():
        check_numbers(np.array([value]), name, [joint], nan=False, kind=kind)
        if name != "position" and value < 0:
            raise CommandError(f"the {name} limit must not be negative, got {value:g}")
    goal, clamped = joints.clamp_gripper(values["position"], out_of_limits)
    return GripperCommand(
        position=goal,
        velocity=values["velocity"],
        effort=values["effort"],
        clamped=clamped,
    )


@dataclass(slots=True)
class _Interval:
    """Positions in an interval of time."""

    begin: float  # [s]
    total: float = 0.0  # sum of positions [m or rad]
    count: int = 0

    def add(self, position: float) -> None:
        self.total += position
        self.count += 1

    @property
    def mean(self) -> float:
        return self.total / self.count


class GripperController:
    """Ramps the reference of a gripper to a goal and reports when it reaches it or stalls.

    A stall is a standstill before the goal, as on an obstacle or a gripped object.
    """

    def __init__(
        self,
        servo: GripperServo,
        settings: GripperSettings,
        emit: Callable[[Event], None],
    ) -> None:
        self.settings = settings
        self.servo = servo
        self._emit = emit
        self._goal: ActionGoal | None = None
        self._started = False
        self._target = 0.0
        self._speed = 0.0
        self._still_since, self._still_at = 0.0, 0.0
        self._interval = _Interval(0.0)
        self._next_feedback = 0.0
        self._moving = False

    @property
    def busy(self) -> bool:
        """Whether `update` is needed."""
        return self._moving or self._goal is not None

    def is_idle(self, _joints: np.ndarray, _time: float) -> bool:
        """Return whether no goal is active and the reference has reached its target."""
        return not self.busy

    def accept(self, command: GripperCommand, time: float) -> None:
        """Execute a command; the previous goal is canceled."""
        self._end(Outcome.CANCELED, "preempted by a new command")
        self._goal, self._started, self._moving = command.goal, False, True
        self._target = command.position
        self._speed = command.velocity or self.settings.max_velocity or np.inf
        self._next_feedback = time
        self.servo.limit_effort(command.effort or self.settings.max_effort)

    def cancel(self, goal: ActionGoal) -> None:
        """Hold the reference if `goal` is active; the effort limit remains."""
        if self._goal == goal:
            self._moving = False
            self._end(Outcome.CANCELED, "canceled: holding position")

    def stop(self, reason: str) -> None:
        """Hold the reference and abort the goal; the effort limit remains."""
        self._moving = False
        self._end(Outcome.INVALID_GOAL, reason)

    def release(self, _joints: np.ndarray, reason: str) -> None:
        """Release the joint, with its own effort limit, and abort the goal."""
        self.reset(reason)

    def reset(self, reason: str) -> None:
        """Restore the joint's own effort limit and abort the goal."""
        self.servo.limit_effort(0.0)
        self.stop(reason)

    def save_state(self) -> dict[str, float]:
        """Return the state without the goal, for `restore_state`."""
        return {name: getattr(self, name) for name in _SAVED}

    def restore_state(self, state: dict[str, float]) -> None:
        """Continue from a saved state; no goal may be active."""
        vars(self).update(state)

    def update(self, time: float, timestep: float) -> None:
        """Write the reference of this step, and monitor the goal by the measured state."""
        if self._moving:
            reference, step = self.servo.reference(), self._speed * timestep
            remaining = self._target - reference
            self._moving = abs(remaining) > step
            self.servo.set_reference(
                reference + math.copysign(step, remaining) if self._moving else self._target
            )
        if self._goal is not None:
            self._monitor(self._goal, time)

    def _monitor(self, goal: ActionGoal, time: float) -> None:
        settings, (q, dq, effort) = self.settings, self.servo.measured()
        if not self._started:
            self._started = True
            self._still_since, self._still_at = time, q
            self._interval = _Interval(time)
            self._emit(GoalStarted(goal=goal))
        # In stiff contacts the position oscillates without end: its mean counts.
        self._interval.add(q)
        if time - self._interval.begin >= settings.stall_timeout / _INTERVALS:
            mean, begin = self._interval.mean, self._interval.begin
            # A goal may ask for less than the threshold.
            threshold = min(settings.stall_velocity_threshold, self._speed / 2)
            if abs(mean - self._still_at) > threshold * settings.stall_timeout:
                self._still_since, self._still_at = begin, mean
            self._interval = _Interval(time)
        if abs(self._target - q) < settings.goal_tolerance:
            self._end(Outcome.SUCCESSFUL, "goal reached")
        elif time - self._still_since > settings.stall_timeout:
            outcome = Outcome.SUCCESSFUL if settings.allow_stalling else Outcome.INVALID_GOAL
            self._end(outcome, "stalled", stalled=True)
        elif time >= self._next_feedback:
            self._next_feedback = time + _FEEDBACK_PERIOD_S
            self._emit(
                GoalProgress(
                    goal=goal,
                    time=time,
                    since_start=0.0,
                    index=0,
                    desired=np.array([[self._target], [0.0], [0.0]]),
                    actual=np.array([[q], [dq]]),
                    effort=effort,
                )
            )

    def _end(self, outcome: Outcome, message: str, *, stalled: bool = False) -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            position, _, effort = self.servo.measured()
            self._emit(
                GoalEnded(
                    goal=goal,
                    outcome=outcome,
                    message=message,
                    position=position,
                    effort=effort,
                    stalled=stalled,
                )
            )
