"""Recovery from a failure."""

from dataclasses import dataclass

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.library.config_checks import check_not_negative
from mujoco_ros.controllers.library.pick_place.measuring.grip_monitor import (
    MonitoredMotion,
    stale_pose,
)
from mujoco_ros.controllers.library.pick_place.measuring.motion_monitor import MotionMonitor
from mujoco_ros.controllers.library.pick_place.plan_requests import PlanRequest, plan_line
from mujoco_ros.controllers.library.pick_place.task import (
    TASK,
    Variation,
    above,
    get_arm,
    variation,
)
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    TrajectoryExecution,
    hold,
    move_gripper,
)
from mujoco_ros.controllers.library.pick_place.waiting import is_holding, missing_feedback

_MAX_RETURNS = 2
"""Number of attempts to put the object back."""
_FINAL = ("too_heavy",)
"""Failures that no other attempt can avoid."""
_HOLDING_TICKS = 5
"""Ticks of which most must show an object between the fingers, because efforts are noisy."""


class Recover(State):
    """Stops, moves up, and lets the table retry the task a limited number of times.

    Every retry changes something, depending on the failure. The gripper keeps an object in the
    hand, which is transported next; otherwise it opens. After the last retry an object in the hand
    is put back to its first place.
    """

    outcomes = ("retry", "holding", "put_back", "give_up")
    failures = ("put_back", "give_up")

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(MonitoredMotion):
        """Settings of `Recover`.

        Attributes:
            attempts: Maximum number of retries.
            calm: Time at rest before the motion up [s].
            fresh: Longest time at rest until a late pose of the object is up to date again [s].
            height: Height of the motion up [m].
            speed: Speed of the tool during the motion up [m/s].
        """

        attempts: int = 2
        calm: float = 0.3
        fresh: float = 2.0
        height: float = 0.15
        speed: float = 0.2

        def __post_init__(self) -> None:
            MonitoredMotion.__post_init__(self)
            check_not_negative(self, "attempts", "calm", "fresh", "height")

    config: Config

    def start(self, context: StateContext) -> None:
        """Hold the arm at its measured position, so that it does not push against an obstacle."""
        self.arm, self.task = get_arm(context), context.store.get(TASK)
        joints = self.arm.joints
        hold(context, self.arm, context.observation.q[joints].copy())
        self._request: PlanRequest | None = None
        self._execution: TrajectoryExecution | None = None
        self._holding: list[bool] = []
        self._next = "retry"

    def run(self, context: StateContext) -> str | None:
        """Rest, then move up."""
        self._holding.append(is_holding(context, self.arm))
        if self._execution is not None:
            return self._move_up(context, self._execution)
        if reason := missing_feedback(context, self.arm):
            context.reason = reason
            return "give_up"
        hold(context, self.arm)
        if not context.has_elapsed(self.config.calm) or self._waits_for_pose(context):
            return None
        if self._request is None:
            return self._plan(context)
        outcome = self._request.poll(context, self.arm, self.task)
        if outcome is None:
            return None
        if outcome != "ready" or self.task.motion is None:
            return self._finish(context)  # retry without the motion up
        self._execution = TrajectoryExecution(self.arm, self.task.motion)
        self._monitor = MotionMonitor(context, self.arm, self.task, self.config)
        return None

    def _waits_for_pose(self, context: StateContext) -> bool:
        task, config = self.task, self.config
        is_late = task.cause == "pose_stale" and bool(
            stale_pose(context, task.object, config.stale)
        )
        return is_late and not context.has_elapsed(config.calm + config.fresh)

    def _plan(self, context: StateContext) -> str | None:
        """Choose what comes next, and plan the motion up."""
        arm, task = self.arm, self.task
        is_held = self._is_held() and task.held is not None
        last = self.config.attempts
        if task.attempts >= last or task.returning or task.cause in _FINAL:
            if not is_held or task.returns >= _MAX_RETURNS:
                context.reason = f"{task.attempts} retries were made" + (
                    f"; '{task.object}' is still in the hand" if is_held else ""
                )
                return "give_up"
            task.returns += 1
            task.returning, task.variation = True, Variation()
            self._next = "put_back"
        else:
            task.attempts += 1
            task.variation = variation(task.cause, task.attempts)
            self._next = "holding" if is_held else "retry"
        if not is_held:
            task.held = task.descent = None
            arm.set_payload(None)
        goal = above(arm.tool(context.observation.q), self.config.height)
        self._request = plan_line(
            *(context, arm, task, goal), duration=0.1, speed=self.config.speed, acceleration=1.0
        )
        return None

    def _move_up(self, context: StateContext, execution: TrajectoryExecution) -> str | None:
        if self._monitor.check_motion(context):
            hold(context, self.arm, context.observation.q[self.arm.joints].copy())
            return self._finish(context)
        if execution.is_stopped:
            hold(context, self.arm)
            return self._finish(context)
        execution.step(context)
        return None

    def _finish(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        if self._next == "put_back" and self._is_held():
            context.reason = f"{task.attempts} retries were made"
            return "put_back"
        if self._next == "put_back":
            context.reason = f"'{task.object}' fell out of the hand"
            return "give_up"
        context.reason = f"retry {task.attempts}"
        if changes := task.variation.text:
            context.reason += f": {changes}"
        if self._next == "holding" and self._is_held():
            return "holding"
        task.held = None
        arm.set_payload(None)
        upper = float(context.robot.upper[arm.gripper])
        return "retry" if move_gripper(context, arm, upper, 0.1) else None

    def _is_held(self) -> bool:
        """Return whether most of the last ticks show an object between the fingers."""
        recent = self._holding[-_HOLDING_TICKS:]
        return 2 * sum(recent) > len(recent)
