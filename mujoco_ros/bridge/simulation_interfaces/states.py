"""The services GetSimulationState and SetSimulationState."""

from collections.abc import Callable

from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import GetSimulationState, SetSimulationState

from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.simulation_interfaces.interfaces import SimulationInterfaces
from mujoco_ros.bridge.simulation_interfaces.resetting import ResetService
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.rclpy_ext.tasks import later
from mujoco_ros.sim.stepping.run_control import RunState

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


class StateServices:
    """Serves GetSimulationState and SetSimulationState."""

    def __init__(
        self,
        context: NodeContext,
        interfaces: SimulationInterfaces,
        resetting: ResetService,
        world_state: Callable[[], int | None],
    ) -> None:
        """Serve both.

        Args:
            context: The node.
            interfaces: Serves them.
            resetting: Deletes the spawned entities, and returns the time that a stop sets.
            world_state: Returns STATE_NO_WORLD or STATE_LOADING_WORLD while there is no world, or
                None.
        """
        self._node, self._quit = context.node, context.quit
        self._commands, self._run = context.simulation.commands, context.run
        self._resetting, self._world_state = resetting, world_state
        self._quitting = False
        interfaces.serve("GetSimulationState", self._get, "SIMULATION_STATE_GETTING")
        interfaces.serve(
            "SetSimulationState", self._set, "SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE"
        )

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
