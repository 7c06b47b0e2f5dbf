"""The parameters of the simulator: what they are, what they may be, and setting them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterDescriptor, ParameterEvent
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParametersAtomically,
)
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import qos_profile_parameter_events

from mujoco_ros.bridge.parameters.parameter_spec import plain
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.service_caller import ServiceCaller
from mujoco_ros.viewer.link import ParameterInfo

_SLICE = 20
"""So many are asked for at a time, lest the simulator be kept busy."""
_PAUSE_S = 0.05


class SimulatorParameters:
    """Mirrors the parameters of a node; all of it belongs to the executor's thread.

    Attributes:
        known: All parameters by name; replaced as a whole, so that other threads may read it.
    """

    def __init__(self, asker: ServiceCaller, endpoints: Endpoints, simulator: str) -> None:
        """Listen to what changes.

        Args:
            asker: Calls services.
            endpoints: Opens the topic of changes.
            simulator: Full name of the node.
        """
        self.known: Mapping[str, ParameterInfo] = {}
        self._asker, self._node = asker, simulator
        self._unknown: list[str] = []
        self._next_at = 0.0
        endpoints.subscription(
            ParameterEvent, "/parameter_events", self._changed, qos_profile_parameter_events
        )

    def fetch(self) -> None:
        """Ask for all parameters there are, until there is an answer."""
        self._asker.ask(
            ListParameters,
            f"{self._node}/list_parameters",
            ListParameters.Request(),
            self._listed,
            lambda _reason: self.fetch(),
            twice=True,
        )

    def forget(self) -> None:
        """Know nothing, as there is no simulator."""
        self.known = {}
        self._unknown.clear()

    def set(self, values: Mapping[str, Any], done: Callable[[bool, str], object]) -> None:
        """Set parameters, all or none, and tell `done` whether they are, and why not."""
        message = SetParametersAtomically.Request(parameters=list(_messages(values)))

        def answered(response: SetParametersAtomically.Response) -> None:
            done(response.result.successful, response.result.reason)

        self._asker.ask(
            SetParametersAtomically,
            f"{self._node}/set_parameters_atomically",
            message,
            answered,
            lambda reason: done(False, reason),
        )

    def tick(self, now: float) -> None:
        """Ask for the next few that are not known yet; `now` is monotonic [s]."""
        if not self._unknown or now < self._next_at:
            return
        self._next_at = now + _PAUSE_S
        names, self._unknown = self._unknown[:_SLICE], self._unknown[_SLICE:]

        def unanswered(_reason: str) -> None:
            self._unknown += names

        def described(response: DescribeParameters.Response) -> None:
            self._asker.ask(
                GetParameters,
                f"{self._node}/get_parameters",
                GetParameters.Request(names=names),
                lambda values: self._got(names, response.descriptors, values.values),
                unanswered,
                twice=True,
            )

        self._asker.ask(
            DescribeParameters,
            f"{self._node}/describe_parameters",
            DescribeParameters.Request(names=names),
            described,
            unanswered,
            twice=True,
        )

    def _listed(self, response: ListParameters.Response) -> None:
        self._unknown = list(response.result.names)

    def _got(
        self,
        names: Sequence[str],
        descriptors: Sequence[ParameterDescriptor],
        values: Sequence[Any],
    ) -> None:
        found = zip(names, descriptors, values, strict=False)  # none at all if one is gone again
        self.known = dict(self.known) | {
            name: _info(descriptor, parameter_value_to_python(value))
            for name, descriptor, value in found
        }

    def _changed(self, event: ParameterEvent) -> None:
        if event.node != self._node:
            return
        known = dict(self.known)
        for message in (*event.new_parameters, *event.changed_parameters):
            value = _frozen(parameter_value_to_python(message.value))
            before = known.get(message.name)
            if before is None:
                self._unknown.append(message.name)
            known[message.name] = replace(before or ParameterInfo(value=value), value=value)
        for message in event.deleted_parameters:
            known.pop(message.name, None)
        self.known = known


def _messages(values: Mapping[str, Any]) -> Iterator[ParameterMessage]:
    for name, value in values.items():
        yield Parameter(name, value=plain(value)).to_parameter_msg()


def _frozen(value: Any) -> Any:
    """Return a value such that nobody can change it; arrays as tuples."""
    return value if value is None or isinstance(value, bool | int | float | str) else tuple(value)


def _info(descriptor: ParameterDescriptor, value: Any) -> ParameterInfo:
    bounds = [*descriptor.floating_point_range, *descriptor.integer_range]
    choices = descriptor.additional_constraints.removeprefix("one of: ")
    listed = choices != descriptor.additional_constraints
    return ParameterInfo(
        value=_frozen(value),
        low=bounds[0].from_value if bounds else None,
        high=bounds[0].to_value if bounds else None,
        choices=tuple(choices.split(", ")) if listed else (),
        description=descriptor.description,
        read_only=descriptor.read_only,
    )
