"""A local copy of the simulator's parameters, and requests that set them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, ParameterEvent
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParametersAtomically,
)
from rclpy.parameter import parameter_value_to_python
from rclpy.qos import qos_profile_parameter_events
from std_srvs.srv import Trigger

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.clients import ParameterInfo, Request
from mujoco_ros.viewer.ros.requests import Requests, atomic_request, parameter_set, service_call
from mujoco_ros.wire.parameter_spec import listed_choices
from mujoco_ros.wire.service_caller import ServiceCaller

_BATCH = 20  # parameters per request: larger requests delay other callbacks of the simulator
_PAUSE_S = 0.05
_SERVICES = (
    *("list_parameters", "describe_parameters", "get_parameters"),
    "set_parameters_atomically",
)


class SimulatorParameters:
    """Copies the parameters of a node; any thread may call `set`."""

    def __init__(
        self, caller: ServiceCaller, requests: Requests, endpoints: Endpoints, simulator: str
    ) -> None:
        self.simulator = simulator  # full name of the node
        # Parameters by name; replaced, never changed, so that any thread may read it
        self.known: Mapping[str, ParameterInfo] = {}
        self._caller, self._requests = caller, requests
        self._pending: list[str] = []
        self._next_at = 0.0
        self._is_closed = False
        self._endpoints = endpoints
        self._events = endpoints.subscription(
            ParameterEvent, "/parameter_events", self._on_event, qos_profile_parameter_events
        )

    def close(self) -> None:
        """Close the subscription and the clients; what waits for a response fails."""
        self._is_closed = True
        self._endpoints.close(self._events)
        for service in _SERVICES:
            self._caller.forget(f"{self.simulator}/{service}")

    def fetch(self) -> None:
        """Request the names of all parameters until the node responds."""
        self._call(
            ListParameters, "list_parameters", ListParameters.Request(), self._on_names, self.fetch
        )

    def clear(self) -> None:
        """Forget all parameters."""
        self.known = {}
        self._pending.clear()

    def set(self, values: Mapping[str, Any]) -> Request:
        """Set parameters atomically."""
        values = dict(values)
        listing = ", ".join(f"{name} = {value}" for name, value in values.items())

        def send(request: Request) -> None:
            request.command = parameter_set(self.simulator, values)
            self.send(values, request.complete)

        return self._requests.submit(f"set {listing}", send)

    def set_first(
        self, name: str, values: Mapping[str, Any], service: str, call: Callable[[Request], object]
    ) -> Request:
        """Set parameters, and then `call` a Trigger service that acts on them."""

        def send(request: Request) -> None:
            trigger = service_call(Trigger, service, Trigger.Request())
            request.command = f"{parameter_set(self.simulator, values)} && {trigger}"
            self.send(values, lambda ok, reason: call(request) if ok else request.fail(reason))

        return self._requests.submit(name, send)

    def send(
        self,
        values: Mapping[str, Any],
        on_done: Callable[[bool, str], object],
        service: str = "set_parameters_atomically",
    ) -> None:
        """Set parameters atomically, in the executor's thread; report success or the reason."""
        if self._is_closed:
            on_done(False, f"{self.simulator} is gone")
            return
        self._caller.call(
            SetParametersAtomically,
            f"{self.simulator}/{service}",
            atomic_request(values),
            lambda response: on_done(response.result.successful, response.result.reason),
            lambda reason: on_done(False, reason),
        )

    def tick(self, now: float) -> None:
        """Request the next batch of parameters when due; `now` is monotonic [s]."""
        if not self._pending or now < self._next_at:
            return
        self._next_at = now + _PAUSE_S
        names, self._pending = self._pending[:_BATCH], self._pending[_BATCH:]

        def retry() -> None:
            self._pending += names

        def on_descriptors(response: DescribeParameters.Response) -> None:
            self._call(
                GetParameters,
                "get_parameters",
                GetParameters.Request(names=names),
                lambda values: self._add(names, response.descriptors, values.values),
                retry,
            )

        self._call(
            DescribeParameters,
            "describe_parameters",
            DescribeParameters.Request(names=names),
            on_descriptors,
            retry,
        )

    def _call(
        self,
        kind: Any,
        service: str,
        message: Any,
        on_response: Callable[[Any], object],
        on_timeout: Callable[[], object],
    ) -> None:
        """Call a service of the node that may be called twice."""
        if self._is_closed:
            return
        self._caller.call(
            kind,
            f"{self.simulator}/{service}",
            message,
            on_response,
            lambda _reason: on_timeout(),
            retry=True,
        )

    def _on_names(self, response: ListParameters.Response) -> None:
        self._pending = list(response.result.names)

    def _add(
        self,
        names: Sequence[str],
        descriptors: Sequence[ParameterDescriptor],
        values: Sequence[Any],
    ) -> None:
        found = zip(names, descriptors, values, strict=False)  # empty if one was undeclared
        known = dict(self.known)
        for name, descriptor, value in found:
            info = _info(descriptor, parameter_value_to_python(value))
            before = known.get(name)
            known[name] = info if before is None else replace(info, initial=before.initial)
        self.known = known

    def _on_event(self, event: ParameterEvent) -> None:
        if event.node != self.simulator:
            return
        known = dict(self.known)
        for message in (*event.new_parameters, *event.changed_parameters):
            value = _frozen(parameter_value_to_python(message.value))
            before = known.get(message.name)
            if before is None:
                self._pending.append(message.name)
            before = before or ParameterInfo(value=value, initial=value)
            known[message.name] = replace(before, value=value)
        for message in event.deleted_parameters:
            known.pop(message.name, None)
        self.known = known


def is_replay(parameters: SimulatorParameters) -> bool:
    """Return whether the node replays a log, so that no command has an effect."""
    return "at_end" in parameters.known


def wrench_sign(parameters: SimulatorParameters) -> float:
    """Return 1 if wrenches are published as in MuJoCo, parent on child; else -1."""
    sign = parameters.known.get("wrench_sign")
    return 1.0 if sign is not None and sign.value == "parent_on_child" else -1.0


def _frozen(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else tuple(value)


def _info(descriptor: ParameterDescriptor, value: Any) -> ParameterInfo:
    bounds = [*descriptor.floating_point_range, *descriptor.integer_range]
    return ParameterInfo(
        value=_frozen(value),
        initial=_frozen(value),
        choices=listed_choices(descriptor),
        read_only=descriptor.read_only,
        low=bounds[0].from_value if bounds else None,
        high=bounds[0].to_value if bounds else None,
        description=descriptor.description,
    )
