"""The gripper controller of one robot, as ros2_controllers' parallel_gripper_controller acts."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.events import Event, GoalEnded, GoalProgress, GoalStarted, Outcome
from mujoco_ros.control.joints import Clamped, ControlledJoints, check_numbers
from mujoco_ros.control.references import References
from mujoco_ros.control.settings import GripperSettings, OutOfLimits


@dataclass(frozen=True, kw_only=True)
class GripperCommand:
    """Where the gripper shall go.

    Attributes:
        position: Position of its joint [m or rad].
        velocity: Largest speed of the reference [m/s or rad/s]; 0 is the setting's.
        effort: Largest effort [N or Nm]; 0 is the setting's.
        clamped: Whether the position was moved into the joint's limits, and from where.
    """

    position: float
    velocity: float = 0.0
    effort: float = 0.0
    clamped: Clamped = field(default_factory=Clamped)


def gripper_command(
    joints: ControlledJoints,
    out_of_limits: OutOfLimits,
    names: list[str],
    position: list[float],
    velocity: list[float],
    effort: list[float],
) -> GripperCommand:
    """Check a command; velocity and effort are optional.

    Raises:
        CommandError: It is wrong; the message says how.
    """
    if joints.gripper is None:
        raise CommandError("the robot has no gripper")
    joint = joints.names[joints.gripper]
    if names and names != [joint]:
        raise CommandError(f"the gripper's joint is '{joint}', not '{', '.join(names)}'")
    if len(position) != 1:
        raise CommandError(f"a gripper command has 1 position, got {len(position)}")
    values = {"position": position[0]}
    for what, given in (("velocity", velocity), ("effort", effort)):
        if len(given) > 1:
            raise CommandError(f"a gripper command has at most 1 {what}, got {len(given)}")
        values[what] = given[0] if given else 0.0
    for what, value in values.items():
        check_numbers(np.array([value]), what, [joint], nan=False)
        if what != "position" and value < 0:
            raise CommandError(f"the {what} limit must not be negative, got {value:g}")
    place, clamped = joints.limited(
        np.array([joints.gripper]), np.array([values["position"]]), out_of_limits
    )
    return GripperCommand(
        position=float(place[0]),
        velocity=values["velocity"],
        effort=values["effort"],
        clamped=clamped,
    )


class GripperController:
    """Moves the reference of one joint to where it shall go, and tells when the joint is there.

    Standing still before that is a stall: something is in the way, or gripped.
    """

    def __init__(
        self,
        joint: int,
        references: References,
        settings: GripperSettings,
        emit: Callable[[Event], None],
        limit_effort: Callable[[float], None],
    ) -> None:
        """Do nothing yet.

        Args:
            joint: Index of the joint.
            references: The robot's references.
            settings: When a goal counts as reached, or stalled.
            emit: Handed what there is to tell.
            limit_effort: Limits the joint's effort [N or Nm]; 0 gives back its own limit.
        """
        self.settings = settings
        self._joint = joint
        self._references = references
        self._emit = emit
        self._limit_effort = limit_effort
        self._goal: object | None = None
        self._told = False
        self._target = 0.0
        self._speed = 0.0
        self._q, self._effort = 0.0, 0.0  # as last measured
        self._still_since, self._still_at = 0.0, 0.0
        self._next_progress = 0.0
        self._moving = False

    @property
    def busy(self) -> bool:
        """Return whether `update` has anything to do."""
        return self._moving or self._goal is not None

    def accept(self, command: GripperCommand, goal: object, time: float) -> None:
        """Pursue a command."""
        self._end(Outcome.CANCELED, "preempted by a new command")
        self._goal, self._told, self._moving = goal, False, True
        self._target = command.position
        self._speed = command.velocity or self.settings.max_velocity or np.inf
        self._next_progress = time
        self._limit_effort(command.effort or self.settings.max_effort)

    def cancel(self, goal: object) -> None:
        """Stop where the reference is, if `goal` is still pursued; what is gripped stays so."""
        if self._goal == goal:
            self._moving = False
            self._end(Outcome.CANCELED, "canceled: holding position")

    def stop(self, reason: str) -> None:
        """Stop where the reference is; what is gripped stays so."""
        self._moving = False
        self._end(Outcome.INVALID_GOAL, reason)

    def release(self, reason: str) -> None:
        """Leave the joint to somebody else, with its own effort limit."""
        self._limit_effort(0.0)
        self.stop(reason)

    def memory(self) -> dict[str, float]:
        """Return all there is to remember, for `recall`; the goal is not part of it."""
        return {name: getattr(self, name) for name in _REMEMBERED}

    def recall(self, memory: dict[str, float]) -> None:
        """Go on as at the time of a `memory`; a goal must have been ended."""
        vars(self).update(memory)

    def update(self, time: float, timestep: float, q: float, dq: float, effort: float) -> None:
        """Write the reference of this instant and watch the joint.

        Args:
            time: Simulated time [s].
            timestep: Simulated time between steps [s].
            q: Measured position.
            dq: Measured velocity.
            effort: Effort of its actuators [N or Nm].
        """
        self._q, self._effort = q, effort
        if self._moving:
            reference, reach = self._references.q[self._joint], self._speed * timestep
            way = self._target - reference
            self._moving = abs(way) > reach
            self._references.q[self._joint] = (
                reference + np.copysign(reach, way) if self._moving else self._target
            )
        if self._goal is not None:
            self._watch(time, q, dq)

    def _watch(self, time: float, q: float, dq: float) -> None:
        settings = self.settings
        if not self._told:
            self._told = True
            self._still_since, self._still_at = time, q
            self._emit(GoalStarted(goal=self._goal))
        # By the mean speed: in stiff contacts the speed itself chatters for ever.
        if abs(q - self._still_at) > settings.stall_velocity_threshold * settings.stall_timeout:
            self._still_since, self._still_at = time, q
        if abs(self._target - q) < settings.goal_tolerance:
            self._end(Outcome.SUCCESSFUL, "goal reached")
        elif time - self._still_since > settings.stall_timeout:
            outcome = Outcome.SUCCESSFUL if settings.allow_stalling else Outcome.INVALID_GOAL
            self._end(outcome, "stalled", stalled=True)
        elif time >= self._next_progress:
            self._next_progress = time + _PROGRESS_S
            self._emit(
                GoalProgress(
                    goal=self._goal,
                    time=time,
                    since_start=0.0,
                    index=0,
                    desired=np.array([[self._target], [0.0], [0.0]]),
                    actual=np.array([[q], [dq]]),
                    effort=self._effort,
                )
            )

    def _end(self, outcome: Outcome, message: str, *, stalled: bool = False) -> None:
        goal, self._goal = self._goal, None
        if goal is not None:
            self._emit(
                GoalEnded(
                    goal=goal,
                    outcome=outcome,
                    message=message,
                    position=self._q,
                    effort=self._effort,
                    stalled=stalled,
                )
            )


_PROGRESS_S = 0.05
"""As the genuine controller's action_monitor_rate of 20 Hz."""
_REMEMBERED = ("_moving", "_target", "_speed")
