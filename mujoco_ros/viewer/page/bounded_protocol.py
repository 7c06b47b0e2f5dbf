"""Connections that end if their clients do not send a request."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

SILENT_S = 10.0
"""Longest time for a whole request, from the connection or from the last response [s]."""
MOST_SILENT = 64
"""Most connections without a request; the oldest one ends for another one."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection that is aborted without a request, so that none takes a place for ever."""

    _timer: asyncio.TimerHandle | None = None
    _began = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request."""
        super().connection_made(transport)
        self._began = self.loop.time()
        silent = [it for it in self.connections if isinstance(it, BoundedProtocol) and it.is_silent]
        if len(silent) > MOST_SILENT:
            oldest = min(silent, key=lambda each: each._began)
            oldest.transport.abort()
            self.connections.discard(oldest)  # which happens later otherwise
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._began = self.loop.time()
        super().on_response_complete()

    @property
    def is_silent(self) -> bool:
        """Whether there is no request, or only a part of one, that has no response."""
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        """Abort the connection once it has been silent for too long."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # it is closed, or a WebSocket, which has limits of its own
        age = self.loop.time() - self._began
        if self.is_silent and age >= SILENT_S:
            self.transport.abort()
            return
        left = max(SILENT_S - age, 0.0) if self.is_silent else SILENT_S
        self._timer = self.loop.call_later(left + 0.05, self._watch)
