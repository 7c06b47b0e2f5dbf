"""Nodes whose state machine is offered with lifecycle_msgs: who they are, where, and what next."""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lifecycle_msgs.msg import TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rclpy.node import Node
from rclpy.subscription import Subscription

from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.viewer.link import ControllerInfo, Edge, Happened, Request

_LOOK_S = 1.0
_ASK_S = 2.0
_CHANGE = "lifecycle_msgs/srv/ChangeState"
_KEPT_EVENTS = 50


@dataclass
class _Found:
    """A state machine as far as it is known."""

    subscription: Subscription | None = None
    state: str = ""
    states: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    available: tuple[str, ...] = ()
    events: deque[Happened] = field(default_factory=lambda: deque(maxlen=_KEPT_EVENTS))
    ask_at: float = 0.0


class StateMachines:
    """Looks for state machines, follows them and changes them, all in the executor's thread.

    Attributes:
        known: Each by the full name of its node; replaced as a whole, so that other threads may
            read it.
    """

    def __init__(self, node: Node, asker: ServiceCaller, endpoints: Endpoints) -> None:
        """Know of none yet."""
        self.known: Mapping[str, ControllerInfo] = {}
        self._node, self._asker, self._endpoints = node, asker, endpoints
        self._machines: dict[str, _Found] = {}
        self._look_at = 0.0

    def tick(self, now: float) -> None:
        """Look for machines and ask where they are, if it is time to; `now` is monotonic [s]."""
        if now >= self._look_at:
            self._look_at = now + _LOOK_S
            self._look()
        for name, machine in self._machines.items():
            if now >= machine.ask_at:
                machine.ask_at = now + _ASK_S
                self._ask_graph(name, machine)
                self._ask(name, machine)

    def change(self, name: str, transition: str, request: Request) -> None:
        """Have a machine take a transition."""
        machine = self._machines.get(name)
        if machine is None:
            known = ", ".join(self._machines) or "none"
            request.settle(False, f"there is no state machine '{name}'; there are: {known}")
            return
        wanted = ChangeState.Request()
        wanted.transition.label = transition

        def answered(response: ChangeState.Response) -> None:
            machine.ask_at = 0.0
            if response.success:
                request.settle(True)
                return
            offered = ", ".join(machine.available) or "nothing"
            request.settle(False, f"refused in state '{machine.state}', which offers {offered}")

        self._asker.ask(
            ChangeState,
            f"{name}/change_state",
            wanted,
            answered,
            lambda reason: request.settle(False, reason),
        )

    def _look(self) -> None:
        """Follow machines that have come, and forget those that have gone."""
        there = {
            service.removesuffix("/change_state")
            for service, kinds in self._node.get_service_names_and_types()
            if service.endswith("/change_state") and _CHANGE in kinds
        }
        for name in self._machines.keys() - there:
            gone = self._machines.pop(name)
            self._asker.forget(f"{name}/")
            if gone.subscription is not None:
                self._endpoints.close(gone.subscription)
        for name in there - self._machines.keys():
            self._follow(name)
        self._show()

    def _follow(self, name: str) -> None:
        machine = self._machines[name] = _Found()

        def happened(event: TransitionEvent) -> None:
            machine.events.append(
                Happened(
                    time=event.timestamp * 1e-9,
                    transition=event.transition.label,
                    start=event.start_state.label,
                    goal=event.goal_state.label,
                )
            )
            machine.state = event.goal_state.label
            machine.ask_at = 0.0
            self._show()

        machine.subscription = self._endpoints.subscription(
            TransitionEvent, f"{name}/transition_event", happened, RELIABLE
        )

    def _ask_graph(self, name: str, machine: _Found) -> None:
        """Ask for what of a machine never changes, unless that is known."""

        def listed(response: GetAvailableStates.Response) -> None:
            machine.states = tuple(state.label for state in response.available_states)
            self._show()

        def drawn(response: GetAvailableTransitions.Response) -> None:
            machine.edges = tuple(_edges(response.available_transitions))
            self._show()

        if not machine.states:
            self._asker.ask(
                GetAvailableStates,
                f"{name}/get_available_states",
                GetAvailableStates.Request(),
                listed,
            )
        if not machine.edges:
            self._asker.ask(
                GetAvailableTransitions,
                f"{name}/get_transition_graph",
                GetAvailableTransitions.Request(),
                drawn,
            )

    def _ask(self, name: str, machine: _Found) -> None:
        """Ask where a machine is, and where it can go from there."""

        def told(response: GetState.Response) -> None:
            machine.state = response.current_state.label
            self._show()

        def offered(response: GetAvailableTransitions.Response) -> None:
            edges = _edges(response.available_transitions)
            machine.available = tuple(dict.fromkeys(edge.label for edge in edges))
            self._show()

        self._asker.ask(GetState, f"{name}/get_state", GetState.Request(), told)
        self._asker.ask(
            GetAvailableTransitions,
            f"{name}/get_available_transitions",
            GetAvailableTransitions.Request(),
            offered,
        )

    def _show(self) -> None:
        self.known = {
            name: ControllerInfo(
                name=name,
                state=machine.state,
                states=machine.states,
                edges=machine.edges,
                available=machine.available,
                events=tuple(machine.events),
            )
            for name, machine in sorted(self._machines.items())
        }


def _edges(transitions: Iterable[TransitionDescription]) -> list[Edge]:
    return [
        Edge(each.transition.label, each.start_state.label, each.goal_state.label)
        for each in transitions
    ]
