"""Requests to services that are answered, refused or given up in time, whoever serves them."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from mujoco_ros.bridge.rclpy_ext.tasks import guarded

PATIENCE_S = 5.0
"""For so long an answer is waited for."""
_AGAIN_S = 1.0
"""After so long what may be asked twice is asked again."""


@dataclass(eq=False)
class _Pending:
    """A request that has no answer yet, and how often it was sent so far."""

    client: Client
    request: Any
    answered: Callable[[Any], object]
    given_up: Callable[[str], object] | None
    deadline: float
    again: float | None
    futures: list[Future] = field(default_factory=list)


class ServiceCaller:
    """Calls services by name; all of it belongs to the executor's thread.

    A request to a service that is not there yet waits for it: what is sent before the service is
    discovered gets lost.
    """

    def __init__(self, node: Node) -> None:
        """Ask in the name of `node`."""
        self._node = node
        self._known: dict[str, Client] = {}
        self._pending: list[_Pending] = []

    def ask(
        self,
        kind: Any,
        name: str,
        request: Any,
        answered: Callable[[Any], object],
        given_up: Callable[[str], object] | None = None,
        *,
        twice: bool = False,
    ) -> None:
        """Call a service.

        Args:
            kind: Its type.
            name: Its full name.
            request: What is asked.
            answered: Handed the response.
            given_up: Told why, in the end, there was none.
            twice: Whether it does no harm to ask again when no answer comes. A service that is
                there may not know its client yet, and its answer gets lost.
        """
        client, now = self._client(kind, name), time.monotonic()
        again = now + _AGAIN_S if twice else None
        pending = _Pending(client, request, answered, given_up, now + PATIENCE_S, again)
        self._pending.append(pending)
        self._send_if_ready(pending)

    def is_served(self, kind: Any, name: str) -> bool:
        """Return whether a service is there, as far as is known; the first time it seldom is."""
        return bool(self._client(kind, name).service_is_ready())

    def forget(self, prefix: str) -> None:
        """Give up all services whose names begin so."""
        for name in [name for name in self._known if name.startswith(prefix)]:
            client = self._known.pop(name)
            for pending in [p for p in self._pending if p.client is client]:
                self._drop(pending, "it is gone")
            self._node.destroy_client(client)

    def tick(self, now: float) -> None:
        """Send what can be sent now, and give up what waited too long; `now` is monotonic [s]."""
        for pending in list(self._pending):
            if now > pending.deadline:
                there = "does not answer" if pending.futures else "is not there"
                self._drop(pending, f"{pending.client.srv_name} {there}")
            elif not pending.futures:
                self._send_if_ready(pending)
            elif pending.again is not None and now > pending.again:
                pending.again = now + _AGAIN_S
                self._send_if_ready(pending)

    def _client(self, kind: Any, name: str) -> Client:
        client = self._known.get(name)
        if client is None:
            client = self._known[name] = self._node.create_client(
                kind,
                name,
                # A group remembers whatever was in it.
                callback_group=MutuallyExclusiveCallbackGroup(),
            )
        return client

    def _send_if_ready(self, pending: _Pending) -> None:
        if not pending.client.service_is_ready():
            return
        future = pending.client.call_async(pending.request)
        pending.futures.append(future)
        future.add_done_callback(guarded(lambda future: self._done(pending, future)))

    def _done(self, pending: _Pending, future: Future) -> None:
        if pending not in self._pending:
            return  # given up before
        response = future.result()
        if response is None:
            self._drop(pending, f"{pending.client.srv_name} failed")
        else:
            self._forget(pending)
            pending.answered(response)

    def _drop(self, pending: _Pending, reason: str) -> None:
        self._forget(pending)
        if pending.given_up is not None:
            pending.given_up(reason)

    def _forget(self, pending: _Pending) -> None:
        self._pending.remove(pending)
        for future in pending.futures:
            if not future.done():
                pending.client.remove_pending_request(future)
