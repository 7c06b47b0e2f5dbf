"""A round trip to other nodes, after which they have handled what was published before."""

import time
from collections.abc import Iterable
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_services_default

_REQUEST = GetParameters.Request()  # asks for no parameter, which every node answers
_CHECK_NS = 100_000_000  # wall time between two checks whether the nodes still exist
_TRIPS = 3  # requests to each node, one after the other; see `RoundTrip`


class RoundTrip:
    """Requests to the parameter services of nodes, answered behind the messages sent before.

    A participant receives what another one sent in the order of sending. An executor of rclpy or
    rclcpp checks for messages, then for requests, and runs the callbacks of a node one after the
    other unless it groups them otherwise. A request may still be answered before a message:

    1. If both arrive during a check, it may find the request without the message (a
       controller_manager on busy cores: 1 tick in 100).
    2. If a later check finds the message while another thread completes the answer to the first
       request, it skips the message, and takes a second request that has arrived meanwhile if the
       answer is complete then (1 tick in 10^5).

    A request sent after two answers would have to meet the second case twice in succession.

    The clients belong to the thread that calls `wait`; with an executor it would take far longer.
    """

    def __init__(self, node: Node, services: Iterable[str]) -> None:
        """Create clients of the services of some nodes, ``<name>/get_parameters``."""
        self.services = frozenset(services)  # names of the services
        self._clients: list[Any] = []
        for service in self.services:
            with node.handle:
                qos = qos_profile_services_default.get_c_qos_profile()
                self._clients.append(_rclpy.Client(node.handle, GetParameters, service, qos))
        size = len(self._clients)
        self._wait_set = _rclpy.WaitSet(0, 0, 0, size, 0, 0, node.context.handle)
        self._matched: list[Any] = []
        self._checked = 0.0  # wall time at which `_matched` was determined [s]
        self._ending = False

    def end(self) -> None:
        """Have `wait` return soon, now and later; for any thread."""
        self._ending = True

    def wait(self, timeout_s: float) -> bool:
        """Return whether all nodes that exist have answered within a wall time [s]."""
        deadline = time.monotonic() + timeout_s
        return all(self._request(deadline) for _ in range(_TRIPS))

    def _request(self, deadline: float) -> bool:
        """Return whether all nodes that exist have answered one request each."""
        pending = {client: client.send_request(_REQUEST) for client in self._connected()}
        wait_set = self._wait_set
        while pending:
            wait_set.clear_entities()
            for client in pending:
                wait_set.add_client(client)
            wait_set.wait(_CHECK_NS)
            for client in list(pending):
                header, _ = client.take_response(GetParameters.Response)
                if header is not None and header.request_id.sequence_number == pending[client]:
                    del pending[client]
            if pending and time.monotonic() > self._checked + _CHECK_NS * 1e-9:
                self._check()
                pending = {
                    client: number for client, number in pending.items() if client in self._matched
                }
                if pending and (self._ending or time.monotonic() > deadline):
                    return False
        return True

    def _connected(self) -> list[Any]:
        if len(self._matched) < len(self._clients):
            self._check()
        return self._matched

    def _check(self) -> None:
        self._checked = time.monotonic()
        self._matched = [client for client in self._clients if client.service_server_is_available()]
