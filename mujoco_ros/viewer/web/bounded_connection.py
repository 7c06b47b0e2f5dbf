"""Connections to which a client must send a request soon."""

import asyncio
from typing import ClassVar

from websockets.asyncio.server import ServerConnection
from websockets.protocol import Event

REQUEST_S = 10.0
"""Longest time from a connection to its request, and from a rejection to the end [s]."""
MOST_REQUESTS = 128
"""Largest number of connections of this process that have sent no request."""


class BoundedConnection(ServerConnection):
    """A connection that is aborted if its client sends no request, or if too many send none.

    Clients need no token for a connection. The time of a response is not limited: networks may be
    slow.
    """

    _waiting: ClassVar[set[ServerConnection]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, and limit the time until the request."""
        super().connection_made(transport)
        if len(self._waiting) >= MOST_REQUESTS:
            self.transport.abort()
            return
        self._waiting.add(self)
        self.loop.call_later(REQUEST_S, self._abort_without_request)

    def process_event(self, event: Event) -> None:
        """Process a request or a message."""
        self._waiting.discard(self)
        super().process_event(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._waiting.discard(self)
        super().connection_lost(exc)

    def abort_later(self) -> None:
        """Limit the time in which the client reads a rejection and disconnects."""
        self.loop.call_later(REQUEST_S, self.transport.abort)

    def _abort_without_request(self) -> None:
        if self.request is None:
            self.transport.abort()
