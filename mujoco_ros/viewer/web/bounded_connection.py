"""The open connections of a server: silent ones keep no client out, and responses are small."""

import asyncio
import gzip
import hashlib
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Any

import zstandard
from websockets.asyncio.server import ServerConnection
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.frames import DATA_OPCODES, CloseCode, Frame
from websockets.http11 import Request, Response
from websockets.protocol import Event

_TYPES = ("text/", "application/")
_GZIP_LEVEL = 4  # the program of the page shrinks to 36 %, in 0.16 s; level 9 needs 0.6 s for 35 %
_ZSTD = zstandard.ZstdCompressionParameters.from_level(9, window_log=23, enable_ldm=True)
"""The program of the page shrinks to 31 %, in 0.5 s. Browsers reject larger windows."""
_SMALLEST, _LARGEST = 1 << 10, 1 << 25
"""Bytes of a body: smaller ones are not worth it, larger ones take longer than 0.8 s."""
_KEPT_BYTES = 1 << 25
"""Bytes of compressed bodies that are kept: program, model, and parts of the model."""


_CODINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstandard.ZstdCompressor(compression_params=_ZSTD).compress(body),
    "gzip": lambda body: gzip.compress(body, _GZIP_LEVEL, mtime=0),
}
"""The best first. Browsers accept zstd from this machine and over HTTPS."""


def message_compression() -> ServerPerMessageDeflateFactory:
    """Return the compression of messages; the first frame shrinks from 4.9 to 0.4 MB."""
    return ServerPerMessageDeflateFactory(compress_settings={"level": 2, "memLevel": 8})


class ResponseCompression:
    """Compresses bodies for clients that accept it, each of them once."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, bytes], bytes] = OrderedDict()

    def apply(self, request: Request, response: Response) -> None:
        """Compress the body of a response."""
        headers, body = response.headers, response.body
        if not headers.get("Content-Type", "").startswith(_TYPES) or not (
            _SMALLEST <= len(body) <= _LARGEST
        ):
            return
        headers["Vary"] = "Accept-Encoding"
        accepted = _accepted(request)
        coding = next((coding for coding in _CODINGS if coding in accepted), None)
        if coding is None or response.status_code != 200:
            return
        response.body = self._compressed(bytes(body), coding)
        headers["Content-Encoding"] = coding
        del headers["Content-Length"]
        headers["Content-Length"] = str(len(response.body))

    def _compressed(self, body: bytes, coding: str) -> bytes:
        key = coding, hashlib.blake2b(body).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = self._kept[key] = _CODINGS[coding](body)
        while sum(map(len, self._kept.values())) > _KEPT_BYTES:
            self._kept.popitem(last=False)
        return found


def _accepted(request: Request) -> set[str]:
    found = set()
    for each in ",".join(request.headers.get_all("Accept-Encoding")).lower().split(","):
        coding, _, quality = each.replace(" ", "").partition(";q=")
        if not quality or quality.strip("0.") != "":
            found.add(coding)
    return found


REQUEST_S = 10.0
"""Longest time from a connection to its request, and from a rejection to the end [s]."""
MOST_UNKNOWN = 128
"""Largest number of connections whose client is unknown."""
SILENT_S = 1.0
"""Shortest time that a client has for its first message when another one needs its place [s]."""
_POLL_S = 0.005
_SESSION = "sid="
_NETWORK_BITS = 64  # a client of IPv6 has all addresses of its network
_REFUSALS = {4001, 4002, CloseCode.TRY_AGAIN_LATER}
"""Close codes of Studio and of the pages for phones that have no place for another client."""


class OpenConnections:
    """The open connections of a server.

    Clients need no token for a connection, and clients of this machine need none at all. A client
    is known by the token of its request, or by its first message. The others have at most
    `MOST_UNKNOWN` connections. A further one replaces the oldest connection of the address that
    has most of them: first connections without a request, and of addresses without a known client.
    """

    def __init__(self) -> None:
        self._unknown: dict[BoundedConnection, None] = {}  # the oldest first
        self._known_addresses: set[str] = set()
        self._handled: dict[BoundedConnection, None] = {}  # WebSockets, the oldest first

    def add(self, connection: "BoundedConnection") -> None:
        """Add a connection whose client is unknown, which may replace another one."""
        if len(self._unknown) >= MOST_UNKNOWN:
            counts = Counter(connection.address for connection in self._unknown)
            replaced = max(  # the first of equals
                self._unknown,
                key=lambda connection: (
                    connection.request is None,
                    connection.address not in self._known_addresses,
                    counts[connection.address],
                ),
            )
            self.discard(replaced)
            replaced.transport.abort()
        self._unknown[connection] = None

    def discard(self, connection: "BoundedConnection") -> None:
        """Remove a connection that ends."""
        self._unknown.pop(connection, None)

    def note_known(self, connection: "BoundedConnection") -> None:
        """Note that the client of a connection is known."""
        self.discard(connection)
        self._known_addresses.add(connection.address)

    async def handle(
        self, connection: "BoundedConnection", handler: Callable[[], Awaitable[None]]
    ) -> None:
        """Handle a WebSocket connection; it replaces an earlier one with its path and session."""
        same = [
            other
            for other in self._handled
            if other.session and other.session == connection.session
        ]
        self._handled[connection] = None
        try:
            for other in same:
                await self._end(other)
            await connection.handle(handler)
        finally:
            del self._handled[connection]

    async def replace_silent(self, connection: "BoundedConnection") -> bool:
        """End the oldest other connection of a path without a message; return if there is one."""
        path = connection.path
        for other in [
            other for other in self._handled if other is not connection and other.path == path
        ]:
            while other.is_silent and time.monotonic() - other.began_at < SILENT_S:
                await asyncio.sleep(_POLL_S)
            if other.is_silent:
                await self._end(other)
                return True
        return False

    async def _end(self, connection: "BoundedConnection") -> None:
        connection.transport.abort()
        while connection in self._handled:
            await asyncio.sleep(_POLL_S)


class BoundedConnection(ServerConnection):
    """A connection that ends if its client sends no request, or if another one needs its place.

    The time of a response is not limited: networks may be slow.
    """

    address = ""

    def __init__(self, *args: Any, connections: OpenConnections, **options: Any) -> None:
        """Create one of `connections`; other arguments are as for `ServerConnection`."""
        super().__init__(*args, **options)
        self._connections = connections
        self.began_at = time.monotonic()  # time of the connection (monotonic clock) [s]
        self._has_sent_message = self._is_closing = self._is_refused = False
        self._task: asyncio.Task[Any] | None = None

    @property
    def path(self) -> str:
        """Path of the request without its query."""
        return "" if self.request is None else path_of(self.request)

    @property
    def session(self) -> tuple[str, str] | None:
        """The path and the session of a page, as Studio reads it; None without a session."""
        query = "" if self.request is None else self.request.path.partition("?")[2]
        found = [field for field in query.split("&") if field.startswith(_SESSION)]
        return (self.path, found[0]) if found else None

    @property
    def is_silent(self) -> bool:
        """Whether the client of an open connection has sent no message yet."""
        is_closing = self._is_closing or self.transport.is_closing()
        return not (self._has_sent_message or is_closing)

    async def handle(self, handler: Callable[[], Awaitable[None]]) -> None:
        """Run the handler, again if it refused the client and a silent one was replaced since."""
        self._task, self._is_refused = asyncio.current_task(), True
        while self._is_refused and not self.transport.is_closing():
            self._is_refused = False
            await handler()

    async def close(self, code: int = CloseCode.NORMAL_CLOSURE, reason: str = "") -> None:
        """Close soon; a client that is refused may replace a silent one, and is handled again."""
        if not (self._is_closing or self.transport.is_closing()):
            # Studio also closes connections of other tasks: their page loses control, for example.
            is_refusal = code in _REFUSALS and asyncio.current_task() is self._task
            if is_refusal and await self._connections.replace_silent(self):
                self._is_refused = True
                return
            self._is_closing = True
            self._connections.add(self)
            self.abort_later()
        await super().close(code, reason)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, and limit the time until the request."""
        super().connection_made(transport)
        # The client's address, with IPv6 its network; empty if it has disconnected already
        self.address = _network(self.remote_address)
        self._connections.add(self)
        self.loop.call_later(REQUEST_S, self._abort_without_request)

    def process_event(self, event: Event) -> None:
        """Process a request or a message."""
        if isinstance(event, Frame) and event.opcode in DATA_OPCODES and not self._is_closing:
            self._has_sent_message = True
            self._connections.note_known(self)
        super().process_event(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._connections.discard(self)
        super().connection_lost(exc)

    def abort_later(self) -> None:
        """Limit the time in which the client reads a rejection and disconnects."""
        self.loop.call_later(REQUEST_S, self.transport.abort)

    def _abort_without_request(self) -> None:
        if self.request is None:
            self.transport.abort()


def path_of(request: Request) -> str:
    """Return the path of a request without its query."""
    return request.path.partition("?")[0]


def _network(remote: Any) -> str:
    """Return the address of a socket's peer; of IPv6, its network."""
    if not remote:
        return ""
    address = ip_address(remote[0])
    if not isinstance(address, IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((int(address), _NETWORK_BITS), strict=False))
