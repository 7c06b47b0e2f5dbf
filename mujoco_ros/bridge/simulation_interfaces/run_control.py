"""Services that play, pause and step the simulation, and report its state."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import GetSimulationState, SetSimulationState, StepSimulation

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.resetting import ResetService
from mujoco_ros.control.events import GoalEnded, Outcome, QueueFullError
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.goal_server import Goal, GoalServer
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.sim.stepping.run_control import RunState, Steps

_NUMBERS = {
    RunState.STOPPED: SimulationState.STATE_STOPPED,
    RunState.PLAYING: SimulationState.STATE_PLAYING,
    RunState.PAUSED: SimulationState.STATE_PAUSED,
}
_NAMES = {
    getattr(SimulationState, name): name.removeprefix("STATE_")
    for name in (
        "STATE_STOPPED",
        "STATE_PLAYING",
        "STATE_PAUSED",
        "STATE_QUITTING",
        "STATE_NO_WORLD",
        "STATE_LOADING_WORLD",
    )
    if hasattr(SimulationState, name)
}
_TARGETS = (*_NUMBERS.values(), SimulationState.STATE_QUITTING)
"""States that can be requested; the others mean that there is no world."""


_CANCELED = "canceled"
_FEEDBACK_EACH = 100
"""Number of steps with feedback for each; later ones have it at most once per `_FEEDBACK_S`."""
_FEEDBACK_S = 0.01


class SteppingServices:
    """Serves steps of a paused simulation, as fast as possible."""

    def __init__(self, context: NodeContext, interfaces: SimulationInterfaces) -> None:
        self._node, self._run = context.node, context.run
        self._commands = context.simulation.commands
        self._goals: dict[bytes, _SteppingGoal] = {}
        interfaces.serve(
            "StepSimulation", self._step, "STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE"
        )
        # The goals of the action; None where the installed standard has no such action
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

        def begin() -> None:
            try:
                self._run.take_steps(stepping.steps)
            except Exception as error:
                stepping.ended(str(error))

        try:
            self._commands.submit(begin)
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


class RunControlServices(Component):
    """Plays, pauses and steps the simulation on request, and reports its state."""

    def __init__(
        self,
        context: NodeContext,
        interfaces: SimulationInterfaces,
        resetting: ResetService,
        world_state: Callable[[], int | None] = lambda: None,
    ) -> None:
        """Serve them; `world_state` returns the state without a world, None while there is one."""
        self._node, self._quit = context.node, context.quit
        self._commands, self._run = context.simulation.commands, context.run
        self._resetting, self._world_state = resetting, world_state
        self._simulation, self._quitting = context.simulation, False
        interfaces.serve("GetSimulationState", self._get, "SIMULATION_STATE_GETTING")
        interfaces.serve(
            "SetSimulationState", self._set, "SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE"
        )
        self._stepping = SteppingServices(context, interfaces)

    @property
    def number(self) -> int:
        """The current state, one of the constants of SimulationState."""
        if self._quitting:
            return int(SimulationState.STATE_QUITTING)
        world = self._world_state()
        return int(_NUMBERS[self._run.state] if world is None else world)

    def _get(self, _request: GetSimulationState.Request, responder: Responder) -> None:
        responder.response.state.state = self.number
        responder.succeed()

    def _set(self, request: SetSimulationState.Request, responder: Responder) -> None:
        target, current = int(request.state.state), self.number
        codes = SetSimulationState.Response
        if problem := _problem(target, current):
            raise RequestRejectedError(problem, codes.INCORRECT_TRANSITION)
        if target == SimulationState.STATE_QUITTING:
            self._quitting = True
            responder.succeed()
            self._quit()
        elif target == current and not self._run.stepping:
            problem = f"the simulation is {_NAMES[target]} already"
            raise RequestRejectedError(problem, codes.ALREADY_IN_TARGET_STATE)
        elif target == SimulationState.STATE_STOPPED:
            responder.run(self._commands, self._run.pause, lambda _: self._stop(responder))
        elif target == SimulationState.STATE_PLAYING:
            responder.run(self._commands, self._run.play)
        else:
            responder.run(self._commands, self._run.pause)

    def _stop(self, responder: Responder) -> None:
        """Delete the spawned entities, then reset; called in the physics thread."""

        def stop(error: Exception | None) -> None:
            if error is None:
                time = self._resetting.time
                responder.run(self._commands, lambda: self._run.stop(time=time))
            else:
                problem = f"it is paused, but the spawned entities cannot be deleted: {error}"
                code = SetSimulationState.Response.STATE_TRANSITION_ERROR
                responder.reject(RequestRejectedError(problem, code))

        if not later(self._node, self._resetting.delete_spawned, stop):
            responder.fail("the simulator is shutting down")

    def commit(self) -> None:
        """End the steps that were requested in the previous world."""
        if self._simulation.plant.fresh:
            self._run.end_steps("another world was loaded")

    def close(self) -> None:
        """End all goals, after the physics thread has ended."""
        if self._stepping.goals is not None:
            self._stepping.goals.close("the simulator ended")
            self._stepping.goals.flush()


def _problem(target: int, current: int) -> str:
    """Return why the state cannot become `target`; empty if it can."""
    if target not in _TARGETS:
        targets = ", ".join(_NAMES[number] for number in _TARGETS)
        name = _NAMES.get(target, str(target))
        return f"the state cannot be set to {name}; these can: {targets}"
    if current == SimulationState.STATE_QUITTING:
        return "the simulator is quitting"
    if current not in _NUMBERS.values() and target != SimulationState.STATE_QUITTING:
        return f"{_NAMES[current]}: there is nothing to play, pause or stop"
    return ""
