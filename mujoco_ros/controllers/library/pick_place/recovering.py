"""Recovery from a failure."""

from dataclasses import dataclass

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.library.pick_place.arm import ARM
from mujoco_ros.controllers.library.pick_place.motion_monitor import MonitoredMotion, MotionMonitor
from mujoco_ros.controllers.library.pick_place.plan_requests import PlanRequest, plan_line
from mujoco_ros.controllers.library.pick_place.task import TASK, above
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    TrajectoryExecution,
    hold,
    move_gripper,
)
from mujoco_ros.controllers.library.pick_place.waiting import is_holding, missing_feedback


class Recover(State):
    """Stops, moves up, and lets the table retry the task a limited number of times.

    The gripper keeps an object in the hand, which is transported next; otherwise it opens.
    """

    outcomes = ("retry", "holding", "give_up")
    failures = ("give_up",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(MonitoredMotion):
        """Settings of `Recover`.

        Attributes:
            attempts: Maximum number of retries.
            calm: Time at rest before the motion up [s].
            height: Height of the motion up [m].
            speed: Speed of the tool during the motion up [m/s].
        """

        attempts: int = 2
        calm: float = 0.3
        height: float = 0.15
        speed: float = 0.2

    config: Config

    def start(self, context: StateContext) -> None:
        """Hold the arm at its measured position, so that it does not push against an obstacle."""
        self.arm, self.task = context.store.get(ARM), context.store.get(TASK)
        joints = self.arm.joints
        hold(context, self.arm, context.observation.q[joints].copy())
        self._request: PlanRequest | None = None
        self._execution: TrajectoryExecution | None = None
        self._is_holding = False

    def run(self, context: StateContext) -> str | None:
        """Rest, then move up."""
        if self._execution is not None:
            return self._move_up(context, self._execution)
        if reason := missing_feedback(context, self.arm):
            context.reason = reason
            return "give_up"
        hold(context, self.arm)
        if not context.has_elapsed(self.config.calm):
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

    def _plan(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        if task.attempts >= self.config.attempts:
            context.reason = f"{task.attempts} retries were made"
            return "give_up"
        task.attempts += 1
        self._is_holding = is_holding(context, arm) and task.held is not None
        if not self._is_holding:
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
        arm = self.arm
        if self._is_holding and is_holding(context, arm):
            return "holding"
        self.task.held = None
        arm.set_payload(None)
        upper = float(context.robot.upper[arm.gripper])
        return "retry" if move_gripper(context, arm, upper, 0.1) else None
