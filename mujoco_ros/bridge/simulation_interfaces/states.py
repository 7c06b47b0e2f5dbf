"""The services GetSimulationState and SetSimulationState."""

from collections.abc import Callable

from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import GetSimulationState, SetSimulationState

from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.resetting import ResetService
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.sim.stepping.run_control import RunControl, RunState

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
_ASKED = (*_NUMBERS.values(), SimulationState.STATE_QUITTING)
"""States that can be requested; the others mean that there is no world."""


class StateServices:
    """Serves GetSimulationState and SetSimulationState."""

    def __init__(
        self,
        interfaces: SimulationInterfaces,
        commands: CommandQueue,
        run: RunControl,
        resetting: ResetService,
        quit: Callable[[], object],
        world_state: Callable[[], int | None] | None,
    ) -> None:
        """Serve both; see `RunControlServices` for the arguments."""
        self._world_state = world_state
        self._commands, self._run = commands, run
        self._resetting, self._quit = resetting, quit
        self._quitting = False
        self._node = interfaces.node
        interfaces.serve("GetSimulationState", self._get, "SIMULATION_STATE_GETTING")
        interfaces.serve(
            "SetSimulationState", self._set, "SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE"
        )

    @property
    def number(self) -> int:
        """The current state, one of the constants of SimulationState."""
        if self._quitting:
            return int(SimulationState.STATE_QUITTING)
        world = None if self._world_state is None else self._world_state()
        return int(_NUMBERS[self._run.state] if world is None else world)

    def _get(self, _request: GetSimulationState.Request, answer: Responder) -> None:
        answer.response.state.state = self.number
        answer.response.result.result = Result.RESULT_OK
        answer()

    def _set(self, request: SetSimulationState.Request, answer: Responder) -> None:
        target, present = int(request.state.state), self.number
        problem = self._problem(target, present)
        if problem:
            _refuse(answer, SetSimulationState.Response.INCORRECT_TRANSITION, problem)
        elif target == SimulationState.STATE_QUITTING:
            self._quitting = True
            answer.response.result.result = Result.RESULT_OK
            answer()
            self._quit()
        elif target == present and not self._run.stepping:
            self._refuse_present(target, answer)
        elif target == SimulationState.STATE_STOPPED:
            self._stop(answer)
        else:
            answer.ask(self._commands, lambda: self._change(target), lambda _none: _succeed(answer))

    def _problem(self, target: int, present: int) -> str:
        """Return why the state cannot become `target`; empty if it can."""
        if target not in _ASKED:
            asked = ", ".join(_NAMES[number] for number in _ASKED)
            what = _NAMES.get(target, str(target))
            return f"the state cannot be set to {what}; these can: {asked}"
        if present not in _NUMBERS.values() and target != SimulationState.STATE_QUITTING:
            return f"{_NAMES[present]}: there is nothing to play, pause or stop"
        if present == SimulationState.STATE_QUITTING:
            return "the simulator is quitting"
        return ""

    def _change(self, target: int) -> None:
        """Play or pause; called in the physics thread."""
        if target == SimulationState.STATE_PLAYING:
            self._run.play()
        else:
            self._run.pause()

    def _stop(self, answer: Responder) -> None:
        """Pause, delete what was spawned, then reset."""

        def stop(error: Exception | None) -> None:
            if error is not None:
                code = SetSimulationState.Response.STATE_TRANSITION_ERROR
                problem = f"it is paused, but what was spawned cannot be deleted: {error}"
                _refuse(answer, code, problem)
                return
            answer.ask(
                self._commands,
                lambda: self._run.stop(time=self._resetting.time),
                lambda _none: _succeed(answer),
            )

        def paused() -> None:
            if not later(self._node, self._resetting.delete_spawned, stop):
                answer.fail("the simulator is shutting down")

        answer.order(self._commands, self._run.pause, paused)

    def _refuse_present(self, target: int, answer: Responder) -> None:
        code = SetSimulationState.Response.ALREADY_IN_TARGET_STATE
        _refuse(answer, code, f"the simulation is {_NAMES[target]} already")


def _refuse(answer: Responder, code: int, reason: str) -> None:
    answer.response.result.result, answer.response.result.error_message = code, reason
    answer()


def _succeed(answer: Responder) -> None:
    answer.response.result.result = Result.RESULT_OK
