"""Running the simulation by the simulator's services, and knowing what it does."""

from typing import Any

import simulation_interfaces.srv
from rcl_interfaces.srv import GetParameters
from rclpy.expand_topic_name import expand_topic_name
from rclpy.parameter import parameter_value_to_python
from simulation_interfaces.msg import SimulationState
from std_srvs.srv import Trigger

from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.bridge.simulation_interfaces.interfaces import service_name
from mujoco_ros.viewer.link import Request, ViewerRunState
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters

_PREFIX = "simulation_interfaces_prefix"
_POLL_S = 1.0
_SCOPES = {
    "time": simulation_interfaces.srv.ResetSimulation.Request.SCOPE_TIME,
    "state": simulation_interfaces.srv.ResetSimulation.Request.SCOPE_STATE,
    "spawned": simulation_interfaces.srv.ResetSimulation.Request.SCOPE_SPAWNED,
}
_STATES = {
    getattr(SimulationState, f"STATE_{state.name}"): state
    for state in ViewerRunState
    if hasattr(SimulationState, f"STATE_{state.name}")
}


class RunStateClient:
    """Asks what the simulation does, once a second and after each change, and changes it.

    All of it belongs to the executor's thread.

    Attributes:
        state: What it does.
    """

    def __init__(
        self, asker: ServiceCaller, parameters: SimulatorParameters, simulator: str
    ) -> None:
        """Know nothing yet.

        Args:
            asker: Calls services.
            parameters: Those of the simulator.
            simulator: Full name of its node.
        """
        self.state = ViewerRunState.UNKNOWN
        self._asker, self._parameters, self._simulator = asker, parameters, simulator
        self._prefix = "~/"
        self._poll_at = 0.0
        self._asking = False

    @property
    def reachable(self) -> bool:
        """Whether the simulator answered when it was asked last."""
        return self.state is not ViewerRunState.UNKNOWN

    def tick(self, now: float) -> None:
        """Ask for the state, if it is time to; `now` is monotonic [s]."""
        if now < self._poll_at or self._asking:
            return
        self._poll_at = now + _POLL_S
        self._asking = True
        if self.reachable:
            self._ask_state()
        else:  # it is not known yet what its services are called
            self._asker.ask(
                GetParameters,
                f"{self._simulator}/get_parameters",
                GetParameters.Request(names=[_PREFIX]),
                self._found,
                self._lost,
                twice=True,
            )

    def go(self, state: ViewerRunState, request: Request) -> None:
        """Play, pause or stop."""
        wanted = simulation_interfaces.srv.SetSimulationState.Request()
        wanted.state.state = getattr(SimulationState, f"STATE_{state.name}")
        self._ask("SetSimulationState", wanted, request)

    def step(self, steps: int, request: Request) -> None:
        """Make steps."""
        wanted = simulation_interfaces.srv.StepSimulation.Request(steps=steps)
        self._ask("StepSimulation", wanted, request)

    def reset(self, scopes: tuple[str, ...], request: Request) -> None:
        """Reset what is named, or everything."""
        wrong = [scope for scope in scopes if scope not in _SCOPES]
        if wrong:
            known = ", ".join(_SCOPES)
            request.settle(False, f"'{wrong[0]}' cannot be reset; these can: {known}")
            return
        wanted = simulation_interfaces.srv.ResetSimulation.Request()
        wanted.scope = sum(_SCOPES[scope] for scope in set(scopes))
        self._ask("ResetSimulation", wanted, request)

    def keyframe(self, service: str, name: str, request: Request) -> None:
        """Name a keyframe, and then save or load it by that service."""

        def named(ok: bool, reason: str) -> None:
            if not ok:
                request.settle(False, reason)
                return
            self._asker.ask(
                Trigger,
                f"{self._simulator}/{service}",
                Trigger.Request(),
                answered,
                lambda reason: request.settle(False, reason),
            )

        def answered(response: Trigger.Response) -> None:
            request.settle(response.success, response.message)
            self._poll_at = 0.0

        self._parameters.set({"active_keyframe": name}, named)

    def _ask(self, interface: str, wanted: Any, request: Request) -> None:
        """Call a service of simulation_interfaces."""

        def answered(response: Any) -> None:
            result = response.result
            request.settle(result.result == result.RESULT_OK, result.error_message)
            self._poll_at = 0.0

        kind = getattr(simulation_interfaces.srv, interface)
        self._asker.ask(
            kind,
            self._name(interface),
            wanted,
            answered,
            lambda reason: request.settle(False, reason),
        )

    def _name(self, interface: str) -> str:
        """Return the full name of a service of simulation_interfaces."""
        namespace, _, node = self._simulator.rpartition("/")
        return str(
            expand_topic_name(self._prefix + service_name(interface), node, namespace or "/")
        )

    def _found(self, response: GetParameters.Response) -> None:
        """Ask for the state of a simulator that has just been found."""
        values = [parameter_value_to_python(value) for value in response.values]
        self._prefix = next((value for value in values if value is not None), "~/")
        self._ask_state()

    def _ask_state(self) -> None:
        kind = simulation_interfaces.srv.GetSimulationState
        name = self._name("GetSimulationState")
        self._asker.ask(kind, name, kind.Request(), self._told, self._lost, twice=True)

    def _told(self, response: Any) -> None:
        self._asking = False
        if not self.reachable:
            self._parameters.fetch()
        self.state = _STATES.get(response.state.state, ViewerRunState.NO_WORLD)

    def _lost(self, _reason: str) -> None:
        self._asking = False
        self.state = ViewerRunState.UNKNOWN
        self._parameters.forget()
