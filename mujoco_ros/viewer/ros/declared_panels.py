"""Panels that nodes declare: their descriptions, settings, buttons and displays."""

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from math import inf
from typing import Any

from rclpy.subscription import Subscription
from std_msgs.msg import String
from std_srvs.srv import Trigger

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.viewer.clients import ParameterInfo, Request
from mujoco_ros.viewer.panel_descriptions import PanelInfo, panel_info, table_rows
from mujoco_ros.viewer.ros.requests import Requests, service_call
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters
from mujoco_ros.wire.names import PANEL
from mujoco_ros.wire.qos import LATCHED, RELIABLE
from mujoco_ros.wire.service_caller import ServiceCaller

_LOG = logging.getLogger(__name__)
_GRAPH_S = 1.0
_TYPE = "std_msgs/msg/String"
_LARGEST = 1 << 18  # larger messages are not read [characters]


class DeclaredPanels:
    """Finds panels by the name and type of their topic; any thread may call all but `tick`."""

    def __init__(
        self,
        caller: ServiceCaller,
        requests: Requests,
        endpoints: Endpoints,
        simulator: SimulatorParameters,
    ) -> None:
        """Find panels; `simulator` has the parameters of the simulator, which may declare some."""
        self.known: Mapping[str, PanelInfo] = {}  # panels by their topic; replaced, never changed
        self._caller, self._requests, self._endpoints = caller, requests, endpoints
        self._descriptions: dict[str, Subscription] = {}
        self._simulator = simulator
        self._parameters: dict[str, SimulatorParameters] = {}
        self._pressed: set[str] = set()  # services with a client
        self._watched: frozenset[str] = frozenset()
        self._tables: dict[str, Subscription] = {}
        self._rows: dict[str, Sequence[Sequence[str]]] = {}
        self._search_at = -inf

    def setting(self, node: str, parameter: str) -> ParameterInfo | None:
        """Return a parameter of the node of a panel; None while it is unknown."""
        parameters = self._of(node)
        return None if parameters is None else parameters.known.get(parameter)

    def set(self, node: str, parameter: str, value: Any) -> Request:
        """Set a parameter of the node of a panel."""
        return self.send_form(f"set {parameter}", node, {parameter: value}, "")

    def send_form(self, label: str, node: str, values: Mapping[str, Any], service: str) -> Request:
        """Set parameters of the node of a panel atomically, and then call a service, if any."""
        parameters = self._of(node)
        if parameters is None:  # it ended in this moment
            return self._requests.submit(label, lambda request: request.fail(f"{node} is gone"))
        if not service:
            return parameters.set(values)
        return parameters.set_first(label, values, service, partial(self._trigger, service))

    def press(self, label: str, service: str) -> Request:
        """Call the service of a button."""

        def send(request: Request) -> None:
            request.command = service_call(Trigger, service, Trigger.Request())
            self._trigger(service, request)

        return self._requests.submit(label, send)

    def watch(self, tables: Collection[str]) -> None:
        """Receive these tables, values and alternatives, by their topics, and no others."""
        if self._watched != frozenset(tables):
            self._watched = frozenset(tables)
            later(self._endpoints.node, self._match_tables)

    def rows(self, table: str) -> Sequence[Sequence[str]]:
        """Return the rows of what is watched, by its topic."""
        return self._rows.get(table, ())

    def tick(self, now: float) -> None:
        """Search panels and fetch parameters when due; `now` is monotonic [s]."""
        for parameters in list(self._parameters.values()):
            parameters.tick(now)
        if now < self._search_at:
            return
        self._search_at = now + _GRAPH_S
        node = self._endpoints.node
        present = {
            name
            for name, kinds in node.get_topic_names_and_types()
            if name.rpartition("/")[2] == PANEL and _TYPE in kinds and node.count_publishers(name)
        }
        for name in self._descriptions.keys() - present:
            self._endpoints.close(self._descriptions.pop(name))
        self.known = {name: info for name, info in self.known.items() if name in present}
        self._close_unused()
        for name in sorted(present - self._descriptions.keys()):
            self._descriptions[name] = self._endpoints.subscription(
                String, name, partial(self._receive, name), LATCHED
            )

    def _trigger(self, service: str, request: Request) -> None:
        self._pressed.add(service)
        self._caller.call(
            Trigger,
            service,
            Trigger.Request(),
            lambda response: request.complete(response.success, response.message),
            request.fail,
        )

    def _receive(self, topic: str, message: String) -> None:
        try:
            info = panel_info(_text(message))
        except UserInputError as error:
            _LOG.warning("'%s' is no panel: %s", topic, error)
            return
        parameters = self._of(info.node)
        if parameters is None and info.has_settings:
            parameters = self._parameters[info.node] = SimulatorParameters(
                self._caller, self._requests, self._endpoints, info.node
            )
        if parameters is not None:
            parameters.fetch()
        self.known = {**self.known, topic: info}

    def _of(self, node: str) -> SimulatorParameters | None:
        return self._simulator if node == self._simulator.simulator else self._parameters.get(node)

    def _close_unused(self) -> None:
        """Close the clients of nodes that have no panel any more: they ended or were renamed."""
        panels = self.known.values()
        for node in self._parameters.keys() - {panel.node for panel in panels}:
            self._parameters.pop(node).close()
        services = {
            item.service for panel in panels for group in panel.groups for item in group.items
        }
        for service in self._pressed - services:
            self._pressed.discard(service)
            self._caller.forget(service)

    def _match_tables(self) -> None:
        for topic in self._tables.keys() - self._watched:
            self._endpoints.close(self._tables.pop(topic))
            self._rows.pop(topic, None)
        for topic in self._watched - self._tables.keys():
            receive = partial(self._receive_table, topic)
            self._tables[topic] = self._endpoints.subscription(String, topic, receive, RELIABLE)

    def _receive_table(self, topic: str, message: String) -> None:
        try:
            self._rows[topic] = table_rows(_text(message))
        except UserInputError as error:
            _LOG.warning("'%s' is no table: %s", topic, error)


def _text(message: String) -> str:
    if len(message.data) > _LARGEST:
        raise UserInputError(f"it has more than {_LARGEST} characters")
    return str(message.data)
