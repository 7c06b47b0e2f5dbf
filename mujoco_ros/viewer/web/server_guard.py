"""Who may come in to the page: where the web server listens, and what requests it answers."""

import os
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from mujoco_ros.model.errors import UserInputError

_PORTS_TRIED = 20
_BACKLOG = 128
_UPLOADS = "/drop"
# Another site may neither embed the page nor read the model.
_REVOKED = {"access-control-allow-origin", "cross-origin-resource-policy"}
_HARDENING = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


class WebServerGuard:
    """A listening socket, and what is let in through it.

    A browser is a way in from outside: any page that it shows may send requests to this machine.
    So the name by which the server was called must be one of its own, which a page that had its
    name resolve to this machine cannot bring about, and the page that asks must be the server's.

    Attributes:
        socket: Listens, as soon as the door is there.
        visitors: How many connections of pages are open.
    """

    def __init__(self, host: str, port: int) -> None:
        """Bind to the first free port from `port` on; 0 is any.

        Args:
            host: Name or address of the interface.
            port: TCP port.

        Raises:
            ModelError: If `host` is none of this machine's, or all of the ports are taken.
        """
        self.socket = _bind(host, port)
        self._wanted = port
        self.visitors = 0
        self._names = {"localhost", host.lower()}
        # Others in the network may claim the rest, and have them lead to a loopback address.
        if not ip_address(self.socket.getsockname()[0]).is_loopback:
            self._names |= {*_own_names()}

    @property
    def port(self) -> int:
        """The port that was free."""
        return int(self.socket.getsockname()[1])

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the page."""
        address = ip_address(self.socket.getsockname()[0])
        if address.is_loopback or address.is_unspecified:
            return f"http://localhost:{self.port}/"
        return f"http://{_bracketed(str(address))}:{self.port}/"

    @property
    def whereabouts(self) -> str:
        """The URL, and why it is another one than was wanted."""
        moved = self._wanted not in (0, self.port)
        return f"{self.url} (port {self._wanted} is taken)" if moved else self.url

    def refusal(self, path: str, headers: Headers) -> str:
        """Return why a request is not answered; empty if it is."""
        if path.partition("?")[0] == _UPLOADS:
            return "models are loaded over ROS, not by dropping files on the page"
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return f"this server is not called {', '.join(hosts) or 'nothing'}"
        if any(origin.partition("://")[2] != hosts[0] for origin in origins):
            return f"pages of {', '.join(origins)} may not ask"
        return ""

    def serve(self, handler: Callable[[ServerConnection], Awaitable[None]], **options: Any) -> Any:
        """Serve as the function of websockets of that name does, but only what is let in."""
        answer: Callable[[ServerConnection, Request], Response | None]
        answer = options.pop("process_request")
        finish: Callable[[ServerConnection, Request, Response], Response | None]
        finish = options.pop("process_response")

        async def counted(connection: ServerConnection) -> None:
            self.visitors += 1
            try:
                await handler(connection)
            finally:
                self.visitors -= 1

        def guarded(connection: ServerConnection, request: Request) -> Response | None:
            refusal = self.refusal(request.path, request.headers)
            if refusal:
                return connection.respond(403, f"{refusal}\n")
            return answer(connection, request)

        def hardened(
            connection: ServerConnection, request: Request, response: Response
        ) -> Response:
            finished = finish(connection, request, response) or response
            for name in _REVOKED & finished.headers.keys():
                del finished.headers[name]
            finished.headers.update(_HARDENING)
            return finished

        return serve(counted, process_request=guarded, process_response=hardened, **options)

    def close(self) -> None:
        """Listen no more."""
        self.socket.close()

    def _is_own(self, host: str) -> bool:
        """Whether a Host header names this server; addresses do, as nobody can redirect them."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or _is_address(name)


class PrivateSocket(socket.socket):
    """A listening socket on loopback that takes connections of one's own user only."""

    def __init__(self, *, is_open: Callable[[], bool] = lambda: True) -> None:
        """Take connections while `is_open` says so."""
        super().__init__()
        self._is_open = is_open

    def accept(self) -> tuple[socket.socket, Any]:
        """Accept a connection; raises BlockingIOError for one that is not taken, and closes it."""
        connection, address = super().accept()
        if not self._is_open() or not _is_of_own_user(connection):
            connection.close()
            raise BlockingIOError
        return connection, address


def _bind(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UserInputError(f"the viewer's host {host!r} is not known: {error}") from error
    family, _, _, _, address = min(found, key=lambda info: info[0] != socket.AF_INET)
    refused: OSError | None = None
    for candidate in range(port, min(port + _PORTS_TRIED, 2**16)) if port else [0]:
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((address[0], candidate))
            bound.listen(_BACKLOG)  # only now is it sure to be free: SO_REUSEADDR lets two bind
            return bound
        except OSError as error:
            refused = error
            bound.close()
    raise UserInputError(f"the viewer cannot listen at {host} from port {port} on: {refused}")


def _own_names() -> Iterable[str]:
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return name, short, f"{short}.local"


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _is_of_own_user(connection: socket.socket) -> bool:
    """Whether the kernel's table gives the other end of an IPv4 connection to this user."""
    try:
        ends = [_as_in_table(*end) for end in (connection.getpeername(), connection.getsockname())]
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table]
    except OSError:  # it has gone already
        return False
    return any(row[1:3] == ends and row[7] == str(os.geteuid()) for row in rows)


def _as_in_table(host: str, port: int) -> str:
    return f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}"
