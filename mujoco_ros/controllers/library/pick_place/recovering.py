"""What is done after a failure."""

from dataclasses import dataclass

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.library.pick_place.arm import ARM
from mujoco_ros.controllers.library.pick_place.motion_monitor import MonitoredMotion, MotionMonitor
from mujoco_ros.controllers.library.pick_place.plan_requests import PlanRequest, line
from mujoco_ros.controllers.library.pick_place.task import TASK, above
from mujoco_ros.controllers.library.pick_place.trajectory_execution import (
    TrajectoryExecution,
    grip,
    rest,
)
from mujoco_ros.controllers.library.pick_place.waiting import holds, untold


class Recover(State):
    """Comes to rest where it is, goes up, and has the task begun anew: so often, and not more.

    What is held stays held, and is brought on; otherwise the gripper is opened.
    """

    outcomes = ("retry", "holding", "give_up")
    failures = ("give_up",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(MonitoredMotion):
        """How to go on.

        Attributes:
            attempts: How often.
            calm: Time to come to rest [s].
            height: How high to go before [m].
            speed: Of the tool on the way up [m/s].
        """

        attempts: int = 2
        calm: float = 0.3
        height: float = 0.15
        speed: float = 0.2

    config: Config

    def start(self, context: StateContext) -> None:
        """Give way to whatever is in the way."""
        self.arm, self.task = context.store.get(ARM), context.store.get(TASK)
        joints = self.arm.joints
        rest(context, self.arm, context.observation.q[joints].copy())
        self._question: PlanRequest | None = None
        self._follower: TrajectoryExecution | None = None
        self._holding = False

    def run(self, context: StateContext) -> str | None:
        """Rest, then go up."""
        if self._follower is not None:
            return self._rise(context, self._follower)
        if reason := untold(context, self.arm):
            context.reason = reason
            return "give_up"
        rest(context, self.arm)
        if not context.over(self.config.calm):
            return None
        if self._question is None:
            return self._ask(context)
        answer = self._question.answer(context, self.arm, self.task)
        if answer is None:
            return None
        if answer != "ready" or self.task.motion is None:
            return self._end(context)  # up is not possible; perhaps from here
        self._follower = TrajectoryExecution(self.arm, self.task.motion)
        self._watch = MotionMonitor(context, self.arm, self.task, self.config)
        return None

    def _ask(self, context: StateContext) -> str | None:
        arm, task = self.arm, self.task
        if task.attempts >= self.config.attempts:
            context.reason = f"tried again {task.attempts} times already"
            return "give_up"
        task.attempts += 1
        self._holding = holds(context, arm) and task.held is not None
        if not self._holding:
            task.held = task.descent = None
            arm.carry(None)
        up = above(arm.tool(context.observation.q), self.config.height)
        future = line(context, arm, task, up, speed=self.config.speed, acceleration=1.0)
        self._question = PlanRequest(future, up, context.elapsed + 0.1)
        return None

    def _rise(self, context: StateContext, follower: TrajectoryExecution) -> str | None:
        if self._watch.motion(context):
            rest(context, self.arm, context.observation.q[self.arm.joints].copy())
            return self._end(context)
        if follower.stopped:
            rest(context, self.arm)
            return self._end(context)
        follower.step(context)
        return None

    def _end(self, context: StateContext) -> str | None:
        arm = self.arm
        if self._holding and holds(context, arm):
            return "holding"
        self.task.held = None
        arm.carry(None)
        if not grip(context, arm, float(context.robot.upper[arm.gripper]), 0.1):
            return None
        return "retry"
