"""StepSimulation and SimulateSteps: so many steps of a paused simulation."""

import time
from collections import deque
from typing import Any

from rclpy.node import Node
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import StepSimulation

from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.control.events import GoalEnded, Outcome
from mujoco_ros.sim.command_queue import CommandQueue, QueueFullError
from mujoco_ros.sim.stepping.run_control import RunControl, Steps

_CANCELED = "canceled"
_TOLD_EACH = 100
"""So many steps are each told of; where they are quick, later ones only as often as below."""
_FEEDBACK_S = 0.01


class SteppingServices:
    """Has a paused simulation take steps, as fast as it can.

    Attributes:
        goals: The goals of the action; None where the installed standard has no such action.
    """

    def __init__(
        self,
        interfaces: SimulationInterfaces,
        endpoints: Endpoints,
        commands: CommandQueue,
        run: RunControl,
    ) -> None:
        """Serve both.

        Args:
            interfaces: Where they are served.
            endpoints: Opens the topics of the action.
            commands: The way into the physics thread.
            run: Takes the steps.
        """
        self._node = interfaces.node
        self._commands, self._run = commands, run
        self._asked = 0
        self._pursued: dict[bytes, _Pursuit] = {}
        interfaces.serve(
            "StepSimulation", self._step, "STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE"
        )
        self.goals: GoalServer | None = None
        self._action = interfaces.action(
            "SimulateSteps", "STEP_SIMULATION_MULTIPLE", "STEP_SIMULATION_ACTION"
        )
        if self._action is not None:
            self.goals = GoalServer(
                endpoints,
                self._action,
                interfaces.name("SimulateSteps"),
                check=self._check,
                accept=self._accept,
                cancel=self._cancel,
                result=self._result,
                feedback=self._feedback,
            )

    def _step(self, request: StepSimulation.Request, answer: Responder) -> None:
        def ended(reason: str) -> None:
            if reason:
                answer.fail(_unfinished(steps, reason))
            else:
                answer.response.result.result = Result.RESULT_OK
                answer()

        steps = Steps(request.steps, ended)
        answer.order(self._commands, lambda: self._run.take(steps))

    def _check(self, message: Any) -> bool:
        """Accept every goal: that the simulation is not paused is for its result to tell."""
        self._asked = message.steps
        return True

    def _accept(self, goal: Goal) -> None:
        pursuit = self._pursued[goal.key] = _Pursuit(self._node, goal, self._asked)

        def take() -> None:
            try:
                self._run.take(pursuit.steps)
            except Exception as error:
                pursuit.ended(str(error))

        try:
            self._commands.submit(take)
        except QueueFullError as error:
            pursuit.end(f"busy: {error}")

    def _cancel(self, goal: Goal) -> None:
        steps = self._pursued[goal.key].steps
        self._commands.submit(lambda: self._run.end_steps(_CANCELED, only=steps), urgent=True)

    def _result(self, event: GoalEnded) -> Any:
        result = self._action.Result()
        result.result.error_message = event.message
        result.result.result = (
            Result.RESULT_OK
            if event.outcome is Outcome.SUCCESSFUL
            else Result.RESULT_OPERATION_FAILED
        )
        if isinstance(event.goal, Goal):
            self._pursued.pop(event.goal.key, None)
        return result

    def _feedback(self, steps: tuple[int, int]) -> Any:
        completed, remaining = steps
        return self._action.Feedback(completed_steps=completed, remaining_steps=remaining)


class _Pursuit:
    """A goal of the action: the physics thread counts its steps, the executor's thread tells."""

    def __init__(self, node: Node, goal: Goal, count: int) -> None:
        self.steps = Steps(count, self.ended, self._stepped)
        self._node = node
        self._goal = goal
        self._untold: deque[int] = deque(maxlen=_TOLD_EACH)
        self._telling = False
        self._next = 0.0

    def ended(self, reason: str) -> None:
        """Have the goal's client told how it ended; for the physics thread."""
        if not later(self._node, self.end, reason):
            self.end(reason)

    def end(self, reason: str) -> None:
        """Tell the goal's client how it ended."""
        self._tell()
        outcome = Outcome.CANCELED if reason == _CANCELED else Outcome.INVALID_GOAL
        if reason:
            message = _unfinished(self.steps, reason)
        else:
            outcome, message = Outcome.SUCCESSFUL, ""
        self._goal.end(GoalEnded(goal=self._goal, outcome=outcome, message=message))

    def _stepped(self) -> None:
        """Have the goal's client told of a step; for the physics thread."""
        completed = self.steps.completed
        if completed > _TOLD_EACH:
            now = time.monotonic()
            if now < self._next and self.steps.remaining:
                return
            self._next = now + _FEEDBACK_S
        self._untold.append(completed)
        if not self._telling:
            self._telling = True  # first: the executor may be quicker
            if not later(self._node, self._tell):
                self._telling = False

    def _tell(self) -> None:
        """Send the feedback that waits."""
        self._telling = False  # first: a step that is added from now on may be missed below
        for _ in range(len(self._untold)):
            completed = self._untold.popleft()
            self._goal.set_executing()
            self._goal.publish_feedback((completed, self.steps.count - completed))


def _unfinished(steps: Steps, reason: str) -> str:
    """Say why not all steps were taken."""
    if not steps.completed:
        return reason
    return f"{reason} after {steps.completed} of {steps.count} steps"
