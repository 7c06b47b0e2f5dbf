"""State machines of nodes with the lifecycle_msgs services."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lifecycle_msgs.msg import TransitionDescription, TransitionEvent
from lifecycle_msgs.srv import ChangeState, GetAvailableStates, GetAvailableTransitions, GetState
from rclpy.node import Node
from rclpy.subscription import Subscription
from std_msgs.msg import String

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.clients import ControllerInfo, Request, TransitionInfo
from mujoco_ros.viewer.ros.requests import Requests, service_call
from mujoco_ros.wire.qos import LATCHED, RELIABLE
from mujoco_ros.wire.service_caller import ServiceCaller

_DISCOVERY_S = 1.0
_POLL_S = 2.0
_CHANGE_STATE = "lifecycle_msgs/srv/ChangeState"
_EVENT_CAPACITY = 50


@dataclass
class _Machine:
    subscriptions: tuple[Subscription, ...]
    poll_at: float = 0.0


class StateMachines:
    """Discovers state machines and monitors them; any thread may call `change_state`."""

    def __init__(
        self, node: Node, caller: ServiceCaller, requests: Requests, endpoints: Endpoints
    ) -> None:
        # Each by the full name of its node; replaced, never changed, so that any thread may read it
        self.known: Mapping[str, ControllerInfo] = {}
        self._node, self._caller, self._requests = node, caller, requests
        self._endpoints = endpoints
        self._machines: dict[str, _Machine] = {}
        self._discover_at = 0.0

    def tick(self, now: float) -> None:
        """Discover and poll state machines when due; `now` is monotonic [s]."""
        if now >= self._discover_at:
            self._discover_at = now + _DISCOVERY_S
            self._discover()
        for name, machine in self._machines.items():
            if now >= machine.poll_at:
                machine.poll_at = now + _POLL_S
                self._poll(name)

    def change_state(self, controller: str, transition: str) -> Request:
        """Request a transition of a controller."""
        return self._requests.submit(
            f"{controller}: {transition}",
            lambda request: self._change_state(controller, transition, request),
        )

    def _change_state(self, name: str, transition: str, request: Request) -> None:
        if name not in self._machines:
            known = ", ".join(self._machines) or "none"
            request.fail(f"state machine '{name}' not found; there are: {known}")
            return
        message = ChangeState.Request()
        message.transition.label = transition

        def on_response(response: ChangeState.Response) -> None:
            self._poll_soon(name)
            if response.success or name not in self.known:
                request.complete(response.success)
                return
            machine = self.known[name]
            available = ", ".join(machine.available) or "nothing"
            request.fail(f"rejected in state '{machine.state}'; available: {available}")

        service = f"{name}/change_state"
        request.command = service_call(ChangeState, service, message)
        self._caller.call(ChangeState, service, message, on_response, request.fail)

    def _discover(self) -> None:
        """Add the machines that appeared, and remove the ones that disappeared."""
        present = {
            service.removesuffix("/change_state")
            for service, kinds in self._node.get_service_names_and_types()
            if service.endswith("/change_state") and _CHANGE_STATE in kinds
        }
        for name in self._machines.keys() - present:
            self._caller.forget(f"{name}/")
            for subscription in self._machines.pop(name).subscriptions:
                self._endpoints.close(subscription)
        self.known = {name: info for name, info in self.known.items() if name in present}
        for name in sorted(present - self._machines.keys()):
            self._add(name)

    def _add(self, name: str) -> None:
        def on_event(event: TransitionEvent) -> None:
            past = self.known[name].events[1 - _EVENT_CAPACITY :] if name in self.known else ()
            events = (*past, (event.timestamp * 1e-9, _transition_info(event)))
            self._update(name, state=event.goal_state.label, events=events)
            self._poll_soon(name)

        def on_reason(reason: String) -> None:  # of the last event, which is published before it
            past = self.known[name].events if name in self.known else ()
            if past:
                time, made = past[-1]
                past = (*past[:-1], (time, replace(made, reason=reason.data)))
            self._update(name, reason=reason.data, events=past)

        self.known = {**self.known, name: ControllerInfo(name=name)}
        subscribe = self._endpoints.subscription
        self._machines[name] = _Machine(
            (
                subscribe(TransitionEvent, f"{name}/transition_event", on_event, RELIABLE),
                subscribe(String, f"{name}/reason", on_reason, LATCHED),
            )
        )

    def _poll_soon(self, name: str) -> None:
        if name in self._machines:
            self._machines[name].poll_at = 0.0

    def _poll(self, name: str) -> None:
        """Request the active state, and the graph, which never changes, until it arrives."""

        def on_states(response: GetAvailableStates.Response) -> None:
            self._update(name, states=tuple(state.label for state in response.available_states))

        def on_graph(response: GetAvailableTransitions.Response) -> None:
            self._update(name, transitions=_transition_infos(response.available_transitions))

        def on_state(response: GetState.Response) -> None:
            self._update(name, state=response.current_state.label)

        def on_available(response: GetAvailableTransitions.Response) -> None:
            transitions = _transition_infos(response.available_transitions)
            labels = dict.fromkeys(transition.label for transition in transitions)
            self._update(name, available=tuple(labels))

        if not self.known[name].states:
            self._get(GetAvailableStates, f"{name}/get_available_states", on_states)
        if not self.known[name].transitions:
            self._get(GetAvailableTransitions, f"{name}/get_transition_graph", on_graph)
        self._get(GetState, f"{name}/get_state", on_state)
        self._get(GetAvailableTransitions, f"{name}/get_available_transitions", on_available)

    def _get(self, kind: Any, service: str, on_response: Callable[[Any], None]) -> None:
        """Call a service without arguments."""
        self._caller.call(kind, service, kind.Request(), on_response)

    def _update(self, name: str, **changes: Any) -> None:
        if name in self.known:
            self.known = {**self.known, name: replace(self.known[name], **changes)}


def _transition_info(message: TransitionDescription | TransitionEvent) -> TransitionInfo:
    return TransitionInfo(
        message.transition.label, message.start_state.label, message.goal_state.label
    )


def _transition_infos(messages: Iterable[TransitionDescription]) -> tuple[TransitionInfo, ...]:
    return tuple(map(_transition_info, messages))
