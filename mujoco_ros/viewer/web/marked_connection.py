"""Connections on which the page learns the age of what it receives."""

import math
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

_PREFIX = "drawn="
_FRAMES = 2
"""Frames that are begun until one has what arrived before: it may arrive during the first."""
_MOST_UNREAD = 1000


class MarkedConnection:
    """A connection of a page that reports when it draws, and to which each image is marked.

    A page sends ``drawn=<time>;<lag>`` when it draws: the time of its own clock [ms], and the age
    of what it draws [s]. Before each binary message the connection sends the last such time and
    the milliseconds since it arrived, from which the page computes an upper bound of the age of
    that message without comparing clocks, and the number of binary messages of the page that the
    viewer has read. Pages that send no times receive no marks.
    """

    def __init__(
        self,
        connection: ServerConnection,
        *,
        on_drawn: Callable[[], object],
        on_lag: Callable[[float], object],
        begun: Callable[[], int],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Mark the messages of a connection.

        Args:
            connection: The connection; its other methods are available here.
            on_drawn: Called with each binary message of the page.
            on_lag: Called with the age of what the page draws [s].
            begun: Returns the number of frames that the viewer has begun.
            now: Clock [s].
        """
        self._connection, self._now = connection, now
        self._on_drawn, self._on_lag, self._begun = on_drawn, on_lag, begun
        self._drawn: tuple[str, float] | None = None
        self._received = self._read = 0
        # Number of a message, and that of the frames at its arrival.
        self._unread: deque[tuple[int, int]] = deque(maxlen=_MOST_UNREAD)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def send(self, message: str | bytes) -> None:
        """Send a message, with its mark if it is binary."""
        if self._drawn is not None and isinstance(message, bytes):
            token, received = self._drawn
            waited = 1e3 * (self._now() - received)
            await self._connection.send(f"{_PREFIX}{token};{waited:.0f};{self._count_read()}")
        await self._connection.send(message)

    async def recv(self) -> str | bytes:
        """Receive the next message that is not a report."""
        while True:
            message: str | bytes = await self._connection.recv()
            if not self._is_report(message):
                return message

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        """Iterate over the messages that are not reports, until the page is gone."""
        with suppress(ConnectionClosed):
            async for message in self._connection:
                if not self._is_report(message):
                    yield message

    def _count_read(self) -> int:
        begun = self._begun()
        while self._unread and begun >= self._unread[0][1] + _FRAMES:
            self._read, _ = self._unread.popleft()
        return self._read

    def _is_report(self, message: str | bytes) -> bool:
        """Return whether the message is a report, and evaluate it."""
        if isinstance(message, bytes):
            self._received += 1
            self._unread.append((self._received, self._begun()))
            self._on_drawn()
            return False
        if not message.startswith(_PREFIX):
            return False
        token, _, lag = message.removeprefix(_PREFIX).partition(";")
        try:
            numbers = float(token), float(lag)
        except ValueError:
            return True
        if all(map(math.isfinite, numbers)):
            self._drawn = f"{numbers[0]:.3f}", self._now()
            self._on_lag(numbers[1])
        return True
