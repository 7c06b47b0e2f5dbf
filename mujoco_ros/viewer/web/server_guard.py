"""The address of the web server and the requests that it accepts."""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.web.compression import ResponseCompression, message_compression
from mujoco_ros.viewer.web.drawn_frames import DrawnFrames
from mujoco_ros.viewer.web.marked_connection import MarkedConnection

_LOG = logging.getLogger(__name__)

_PORTS_TRIED = 20
_BACKLOG = 128
_UPLOADS = "/drop"
_PANELS = "/ui"
# Other sites may neither embed the page nor read the model.
_REVOKED = {"access-control-allow-origin", "cross-origin-resource-policy"}
_HARDENING = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class WebServerGuard:
    """A listening socket and the checks of requests to it.

    Any page in a browser may send requests to this machine. So the Host header must be a name of
    this server, which DNS rebinding cannot fake, and the Origin header must be this server.

    Attributes:
        socket: The listening socket.
        connections: Number of open WebSocket connections.
        frames: The frames of the panels that the page in control has drawn.
    """

    def __init__(
        self, host: str, port: int, *, on_lag: Callable[[float], object] | None = None
    ) -> None:
        """Bind to the first free port from `port` on; 0 is any.

        Args:
            host: Name or address of the interface.
            port: TCP port.
            on_lag: Called with the age of what the page in control draws, as it reports [s].

        Raises:
            UserInputError: If this machine has no such interface, or no port is free.
        """
        self.socket = _bind(host, port)
        self._requested_port = port
        self.connections = 0
        self.frames = DrawnFrames()
        self._on_lag = on_lag
        self._compression = ResponseCompression()
        self._names = {"localhost", host.lower()}
        # Another machine may claim the other names in the network and map them to loopback.
        if not ip_address(self.socket.getsockname()[0]).is_loopback:
            name = socket.gethostname().lower()
            short = name.partition(".")[0]
            self._names |= {name, short, f"{short}.local"}

    @property
    def port(self) -> int:
        """The bound port."""
        return int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """URL of the page for a browser on this machine."""
        address = ip_address(self.socket.getsockname()[0])
        if address.is_loopback or address.is_unspecified:
            return f"http://localhost:{self.port}/"
        host = f"[{address}]" if address.version == 6 else str(address)
        return f"http://{host}:{self.port}/"

    @property
    def address_text(self) -> str:
        """The URL, and the reason if the port is not the requested one."""
        if self._requested_port in (0, self.port):
            return self.url
        return f"{self.url} (port {self._requested_port} is taken)"

    def rejection(self, path: str, headers: Headers) -> str:
        """Return the reason to reject a request; empty to accept it."""
        if path.partition("?")[0] == _UPLOADS:
            return "models are loaded over ROS, not by dropping files on the page"
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return f"{', '.join(hosts) or 'an empty name'} is not a name of this server"
        if any(origin.partition("://")[2] != hosts[0] for origin in origins):
            return f"pages of {', '.join(origins)} have no access to this server"
        return ""

    def serve(
        self,
        handler: Callable[[Any], Awaitable[None]],
        *,
        finish: Callable[[str, Response], None],
        responses: Mapping[str, Callable[[], Response]],
        process_request: Callable[[ServerConnection, Request], Response | None],
        process_response: Callable[[ServerConnection, Request, Response], Response | None],
        **options: Any,
    ) -> Any:
        """Serve like `websockets.serve`, but reject requests that fail the checks.

        Args:
            handler: As in `websockets.serve`, like all arguments but the next two; messages are
                compressed.
            finish: Edits the response to the request of a path.
            responses: Responses to requests of further paths.
        """

        async def counted(connection: ServerConnection) -> None:
            self.connections += 1
            try:
                await self._handle(connection, handler)
            except ConnectionClosed:
                pass  # the page is gone
            except Exception as error:  # of what a client has sent
                _LOG.warning("closing a connection: %s: %s", type(error).__name__, error)
                await connection.close(CloseCode.INTERNAL_ERROR)
            finally:
                self.connections -= 1

        def checked(connection: ServerConnection, request: Request) -> Response | None:
            if reason := self.rejection(request.path, request.headers):
                return connection.respond(403, f"{reason}\n")
            if request.path in responses:
                return responses[request.path]()
            return process_request(connection, request)

        def hardened(
            connection: ServerConnection, request: Request, response: Response
        ) -> Response:
            final = process_response(connection, request, response) or response
            finish(request.path, final)
            self._compression.apply(request, final)
            for name in _REVOKED & final.headers.keys():
                del final.headers[name]
            final.headers.update(_HARDENING)
            return final

        asyncio.get_running_loop().set_exception_handler(_report_error)
        options |= {"compression": None, "extensions": [message_compression()]}
        return serve(counted, process_request=checked, process_response=hardened, **options)

    async def _handle(
        self, connection: ServerConnection, handler: Callable[[Any], Awaitable[None]]
    ) -> None:
        """Handle a connection, whose messages are marked; that of the panels reports frames."""
        path = connection.request.path if connection.request else ""
        has_panels = False

        def note_drawn() -> None:
            nonlocal has_panels
            if has_panels:
                self.frames.note_drawn()
            elif path.partition("?")[0] == _PANELS:  # its first message accepts the panels
                has_panels = True
                self.frames.set_page(True)

        def note_lag(seconds: float) -> None:
            if has_panels and self._on_lag is not None:
                self._on_lag(seconds)

        try:
            await handler(MarkedConnection(connection, on_drawn=note_drawn, on_lag=note_lag))
        finally:
            if has_panels:
                self.frames.set_page(False)
                note_lag(0.0)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def _is_own(self, host: str) -> bool:
        """Return whether a Host header names this server; any IP address does."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            return name in self._names or bool(ip_address(name))
        except ValueError:
            return False


class PrivateSocket(socket.socket):
    """A listening socket on loopback that accepts connections of the own user only."""

    def __init__(self, *, is_open: Callable[[], bool]) -> None:
        """Accept connections while `is_open` returns true."""
        super().__init__()
        self._is_open = is_open

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; close a rejected one and raise BlockingIOError."""
        connection, address = super().accept()
        if not self._is_open() or not _is_of_own_user(connection):
            connection.close()
            raise BlockingIOError
        return connection, address


def _report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that no task handles; Studio's tasks end so when their page is gone."""
    if not isinstance(context.get("exception"), ConnectionClosed):
        loop.default_exception_handler(context)


def _bind(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UserInputError(f"the viewer's host {host!r} is unknown: {error}") from error
    family, _, _, _, address = min(found, key=lambda info: info[0] != socket.AF_INET)
    failure: OSError | None = None
    for candidate in range(port, min(port + _PORTS_TRIED, 2**16)) if port else [0]:
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address[0], candidate))
            bound.listen(_BACKLOG)  # fails for a taken port; SO_REUSEADDR lets two bind
            return bound
        except OSError as error:
            failure = error
            bound.close()
    raise UserInputError(f"the viewer cannot listen at {host} from port {port} on: {failure}")


def _is_of_own_user(connection: socket.socket) -> bool:
    """Return whether the peer of an IPv4 connection is of this user, by the kernel's table."""
    try:
        ends = [_as_in_table(*end) for end in (connection.getpeername(), connection.getsockname())]
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table]
    except OSError:  # the peer has disconnected
        return False
    return any(row[1:3] == ends and row[7] == str(os.geteuid()) for row in rows)


def _as_in_table(host: str, port: int) -> str:
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"
