"""StepSimulation and SimulateSteps: a number of steps of a paused simulation."""

import time
from collections import deque
from typing import Any

from rclpy.node import Node
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import StepSimulation

from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.control.errors import QueueFullError
from mujoco_ros.control.events import GoalEnded, Outcome
from mujoco_ros.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.rclpy_ext.service import Responder
from mujoco_ros.rclpy_ext.tasks import later
from mujoco_ros.sim.stepping.run_control import Steps

_CANCELED = "canceled"
_FEEDBACK_EACH = 100
"""Number of steps with feedback for each; later ones have it at most once per `_FEEDBACK_S`."""
_FEEDBACK_S = 0.01


class SteppingServices:
    """Serves steps of a paused simulation, as fast as possible.

    Attributes:
        goals: The goals of the action; None where the installed standard has no such action.
    """

    def __init__(self, context: NodeContext, interfaces: SimulationInterfaces) -> None:
        """Serve both."""
        self._node, self._run = context.node, context.run
        self._commands = context.simulation.commands
        self._goals: dict[bytes, _SteppingGoal] = {}
        interfaces.serve(
            "StepSimulation", self._step, "STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE"
        )
        self.goals: GoalServer[int] | None = None
        self._action = interfaces.action(
            "SimulateSteps", "STEP_SIMULATION_MULTIPLE", "STEP_SIMULATION_ACTION"
        )
        if self._action is not None:
            name = interfaces.name("SimulateSteps")
            self.goals = GoalServer(context.endpoints, self._action, name, self)

    def _step(self, request: StepSimulation.Request, responder: Responder) -> None:
        def ended(reason: str) -> None:
            if reason:
                responder.fail(_unfinished(steps, reason))
            else:
                responder.succeed()

        steps = Steps(request.steps, ended)
        responder.run(self._commands, lambda: self._run.take_steps(steps), lambda _: None)

    def check(self, message: Any) -> int:
        """Return the number of steps; a wrong state is for the result."""
        return int(message.steps)

    def accept(self, goal: Goal, count: int) -> None:
        """Take the steps."""
        stepping = self._goals[goal.key] = _SteppingGoal(self._node, goal, count)

        def take() -> None:
            try:
                self._run.take_steps(stepping.steps)
            except Exception as error:
                stepping.ended(str(error))

        try:
            self._commands.submit(take)
        except QueueFullError as error:
            stepping.end(f"busy: {error}")

    def cancel(self, goal: Goal) -> None:
        """End the steps of a goal."""
        steps = self._goals[goal.key].steps
        self._commands.submit(lambda: self._run.end_steps(_CANCELED, only=steps), urgent=True)

    def result(self, event: GoalEnded) -> Any:
        """Return whether all steps were taken."""
        result = self._action.Result()
        result.result.error_message = event.message
        good = event.outcome is Outcome.SUCCESSFUL
        result.result.result = Result.RESULT_OK if good else Result.RESULT_OPERATION_FAILED
        if isinstance(event.goal, Goal):
            self._goals.pop(event.goal.key, None)
        return result

    def feedback(self, steps: tuple[int, int]) -> Any:
        """Return the numbers of completed and remaining steps."""
        completed, remaining = steps
        return self._action.Feedback(completed_steps=completed, remaining_steps=remaining)


class _SteppingGoal:
    """A goal of the action: the physics thread counts, the executor's thread publishes."""

    def __init__(self, node: Node, goal: Goal, count: int) -> None:
        self.steps = Steps(count, self.ended, self._stepped)
        self._node = node
        self._goal = goal
        self._unpublished: deque[int] = deque(maxlen=_FEEDBACK_EACH)
        self._publishing = False
        self._next = 0.0

    def ended(self, reason: str) -> None:
        """End the goal; for the physics thread."""
        if not later(self._node, self.end, reason):
            self.end(reason)

    def end(self, reason: str) -> None:
        """End the goal, with the reason if not all steps were taken."""
        self._publish()
        outcome, message = Outcome.SUCCESSFUL, ""
        if reason:
            outcome = Outcome.CANCELED if reason == _CANCELED else Outcome.INVALID_GOAL
            message = _unfinished(self.steps, reason)
        self._goal.end(GoalEnded(goal=self._goal, outcome=outcome, message=message))

    def _stepped(self) -> None:
        """Publish feedback on a step, at a limited rate; for the physics thread."""
        completed = self.steps.completed
        if completed > _FEEDBACK_EACH:
            now = time.monotonic()
            if now < self._next and self.steps.remaining:
                return
            self._next = now + _FEEDBACK_S
        self._unpublished.append(completed)
        if not self._publishing:
            self._publishing = True  # first: the executor may be quicker
            if not later(self._node, self._publish):
                self._publishing = False

    def _publish(self) -> None:
        """Publish the pending feedback."""
        self._publishing = False  # first: a step that is added from now on may be missed below
        for _ in range(len(self._unpublished)):
            completed = self._unpublished.popleft()
            self._goal.set_executing()
            self._goal.publish_feedback((completed, self.steps.count - completed))


def _unfinished(steps: Steps, reason: str) -> str:
    """Return a message about steps that were not all taken."""
    if not steps.completed:
        return reason
    return f"{reason} after {steps.completed} of {steps.count} steps"
