"""Calls of ROS services with a timeout and retries."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.client import Client
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future

from mujoco_ros.rclpy_ext.executor import guarded

TIMEOUT_S = 5.0
"""Longest wait for a response."""
_RETRY_S = 1.0  # time after which a request is repeated, if it may be
_DEPTH = 1000


@dataclass(eq=False)
class _Call:
    """A call without a response yet, and a future for each time that it was sent."""

    client: Client
    request: Any
    on_response: Callable[[Any], object]
    on_failure: Callable[[str], object] | None
    deadline: float
    retry_at: float | None
    futures: list[Future] = field(default_factory=list)


class ServiceCaller:
    """Calls services by name, in the executor's thread.

    A request is sent when its service is discovered; the middleware would lose an earlier one.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._clients: dict[str, Client] = {}
        self._pending: list[_Call] = []

    def call(
        self,
        kind: Any,
        name: str,
        request: Any,
        on_response: Callable[[Any], object],
        on_failure: Callable[[str], object] | None = None,
        *,
        retry: bool = False,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Call a service by its type and full name.

        `on_failure` is called with the reason if there is no response. With `retry`, for idempotent
        requests, the request is repeated without a response: a service that has not discovered its
        client yet loses the response.
        """
        client, now = self._client(kind, name), time.monotonic()
        retry_at = now + _RETRY_S if retry else None
        call = _Call(client, request, on_response, on_failure, now + timeout_s, retry_at)
        self._pending.append(call)
        self._send_if_ready(call)

    def prepare(self, kind: Any, name: str) -> None:
        """Create the client of a service that is called later, by its type and full name.

        Discovery is in the order of creation: a response to a client that was created later proves
        that the same node has discovered this one, so it loses no response to it.
        """
        self._client(kind, name)

    def is_served(self, kind: Any, name: str) -> bool:
        """Return whether a service is discovered; rarely true at the first call for a name."""
        return bool(self._client(kind, name).service_is_ready())

    def forget(self, named: str) -> None:
        """Fail the calls of a service, and close its client.

        With "/" at the end, `named` stands for all services whose names begin so.
        """
        is_prefix = named.endswith("/")
        for name in list(self._clients):
            if not (name.startswith(named) if is_prefix else name == named):
                continue
            client = self._clients.pop(name)
            for call in [call for call in self._pending if call.client is client]:
                self._fail(call, "it is gone")
            self._node.destroy_client(client)

    def tick(self, now: float) -> None:
        """Send, repeat or fail pending calls; `now` is monotonic time [s]."""
        for call in list(self._pending):
            if now > call.deadline:
                problem = "does not answer" if call.futures else "is not there"
                self._fail(call, f"{call.client.srv_name} {problem}")
            elif not call.futures:
                self._send_if_ready(call)
            elif call.retry_at is not None and now > call.retry_at:
                call.retry_at = now + _RETRY_S
                self._send_if_ready(call)

    def _client(self, kind: Any, name: str) -> Client:
        client = self._clients.get(name)
        if client is None:
            client = self._clients[name] = self._node.create_client(
                kind,
                name,
                # Responses to other clients take places in this queue, too.
                qos_profile=QoSProfile(depth=_DEPTH),
                # A callback group keeps a reference to everything that was ever in it.
                callback_group=MutuallyExclusiveCallbackGroup(),
            )
        return client

    def _send_if_ready(self, call: _Call) -> None:
        if not call.client.service_is_ready():
            return
        future = call.client.call_async(call.request)
        call.futures.append(future)
        future.add_done_callback(guarded(lambda future: self._finish(call, future)))

    def _finish(self, call: _Call, future: Future) -> None:
        if call not in self._pending:
            return  # it failed before
        response = future.result()
        if response is None:
            self._fail(call, f"{call.client.srv_name} failed")
        else:
            self._remove(call)
            call.on_response(response)

    def _fail(self, call: _Call, reason: str) -> None:
        self._remove(call)
        if call.on_failure is not None:
            call.on_failure(reason)

    def _remove(self, call: _Call) -> None:
        self._pending.remove(call)
        for future in call.futures:
            if not future.done():
                call.client.remove_pending_request(future)
