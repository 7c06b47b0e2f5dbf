"""The requests that the web server accepts."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from mujoco_ros.viewer.web.access import Role
from mujoco_ros.viewer.web.bounded_connection import (
    BoundedConnection,
    OpenConnections,
    ResponseCompression,
    message_compression,
    path_of,
)
from mujoco_ros.viewer.web.marked_connection import DrawnFrames, MarkedConnection
from mujoco_ros.viewer.web.page_address import PageAddress
from mujoco_ros.viewer.web.page_files import PAGES

_LOG = logging.getLogger(__name__)

_UPLOADS = "/drop"
_NO_TOKEN = "open the page with a link from the terminal of the simulator; it contains a token\n"
_LARGEST_MESSAGE = 1 << 12
"""Bytes of a message to a further handler; also clients that may only watch send such."""
_PANELS = "/ui"
_POLL_S = 0.005
# Other sites may neither embed the page nor read the model.
_REVOKED = {"access-control-allow-origin", "cross-origin-resource-policy"}
_HARDENING = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


Handler = Callable[[ServerConnection, Role], Awaitable[None]]
"""Handles a WebSocket connection of a client with a role."""


class WebServerGuard(PageAddress):
    """A listening socket and the checks of requests to it.

    A server that other machines can reach accepts only clients with a token.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        on_lag: Callable[[float], object] | None = None,
        token_folder: Path | None = None,
    ) -> None:
        """Bind to the first free port from `port` on, 0 is any; keep tokens in a folder, if any."""
        super().__init__(host, port, token_folder)
        self._open = OpenConnections()
        # Numbers of open WebSocket connections: to Studio, those with panels, and to others
        self.connections = self.panel_connections = self.further_connections = 0
        self.frames = DrawnFrames()  # the frames of the panels that the page in control has drawn
        # What the page in control shows of the scene, see `MarkedConnection`
        self.uncovered: Sequence[float] = ()
        self._panels: MarkedConnection | None = None  # of the page in control
        self._on_lag = on_lag
        self._compression = ResponseCompression()

    def rejection(self, path: str, headers: Headers) -> str:
        """Return the reason to reject a request; empty to accept it."""
        if path.partition("?")[0] == _UPLOADS:
            return "models are loaded over ROS, not by dropping files on the page"
        return self.refusal(headers)

    def serve(
        self,
        handler: Callable[[Any], Awaitable[None]],
        *,
        finish: Callable[[str, Response], None],
        responses: Mapping[str, Callable[[], Response]],
        handlers: Mapping[str, Handler],
        watched: Collection[str],
        process_request: Callable[[ServerConnection, Request], Response | None],
        process_response: Callable[[ServerConnection, Request, Response], Response | None],
        **options: Any,
    ) -> Any:
        """Serve like `websockets.serve`, with compression; reject requests that fail the checks.

        `finish` edits the response to the request of a path. Further paths have `responses`, or
        `handlers` of WebSocket connections; clients that may only watch have `watched`, the first
        of which is their page.
        """

        async def counted(connection: ServerConnection) -> None:
            request = connection.request
            further = handlers.get(path_of(request)) if request else None
            has_panels = request is not None and path_of(request) == _PANELS
            self.panel_connections += has_panels
            if further is None:
                self.connections += 1
            else:
                self.further_connections += 1

            async def handle() -> None:
                if request is None or further is None:
                    await self._handle(connection, handler)
                else:
                    await further(connection, self._role(request) or Role.WATCH)

            assert isinstance(connection, BoundedConnection)
            try:
                await self._open.handle(connection, handle)
            except ConnectionClosed:
                pass  # the page is gone
            except Exception as error:  # of what a client has sent
                _LOG.warning("closing a connection: %s: %s", type(error).__name__, error)
                await connection.close(CloseCode.INTERNAL_ERROR)
            finally:
                self.panel_connections -= has_panels
                if further is None:
                    self.connections -= 1
                else:
                    self.further_connections -= 1

        def checked(connection: ServerConnection, request: Request) -> Response | None:
            if reason := self.rejection(request.path, request.headers):
                return connection.respond(403, f"{reason}\n")
            if refused := self._unauthorized(connection, request, watched):
                return refused
            path = path_of(request)
            if path in responses:
                return responses[path]()
            if path in handlers:
                connection.protocol.max_message_size = _LARGEST_MESSAGE
                return None
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
            if final.status_code >= 400 and isinstance(connection, BoundedConnection):
                connection.abort_later()
            return final

        asyncio.get_running_loop().set_exception_handler(_report_error)
        options |= {"compression": None, "extensions": [message_compression()]}
        options["create_connection"] = partial(BoundedConnection, connections=self._open)
        return serve(counted, process_request=checked, process_response=hardened, **options)

    def _role(self, request: Request) -> Role | None:
        if self.tokens is None:
            return Role.CONTROL
        return self.tokens.role(request.headers, self.cookie)

    def _unauthorized(
        self, connection: ServerConnection, request: Request, watched: Collection[str]
    ) -> Response | None:
        """Return the response to a request without the needed token, or with a link's token."""
        if self.tokens is None:
            return None
        login, role = self.tokens.login(request, self.cookie), self._role(request)
        if (login is not None or role is not None) and isinstance(connection, BoundedConnection):
            self._open.note_known(connection)
        if login is not None:
            return login
        if role is Role.CONTROL or (role is Role.WATCH and path_of(request) in watched):
            return None
        if role is None:
            return connection.respond(401, _NO_TOKEN)
        if request.path not in PAGES:
            return connection.respond(403, "this link is read-only\n")
        response = connection.respond(303, "")
        response.headers["Location"] = next(iter(watched))
        return response

    async def _handle(
        self, connection: ServerConnection, handler: Callable[[Any], Awaitable[None]]
    ) -> None:
        """Handle a connection, whose messages are marked; the panels' connection reports frames."""
        path = path_of(connection.request) if connection.request else ""
        has_panels = False

        def note_drawn() -> None:
            nonlocal has_panels
            if has_panels:
                self.frames.note_drawn()
            elif path == _PANELS:  # its first message accepts the panels
                has_panels, self._panels = True, marked
                self.frames.set_page(True)

        def note_lag(seconds: float) -> None:
            if has_panels and self._on_lag is not None:
                self._on_lag(seconds)

        def note_received(messages: float) -> None:
            if has_panels:
                self.frames.note_received(messages)

        marked = MarkedConnection(
            connection,
            on_drawn=note_drawn,
            on_lag=note_lag,
            on_received=note_received,
            frames=self.frames,
            uncovered=(lambda: self.uncovered) if path == _PANELS else None,
        )
        # Studio takes no other page meanwhile, and one that is reloaded could only watch then.
        while path == _PANELS and self._panels is not None and self._panels.is_releasing:
            await asyncio.sleep(_POLL_S)
        try:
            await handler(marked)
        finally:
            if self._panels is marked:  # not if another page has the panels already
                self._panels = None
                self.frames.set_page(False)
                note_lag(0.0)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()


def _report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that no task handles; Studio's tasks end so when their page is gone."""
    if not isinstance(context.get("exception"), ConnectionClosed):
        loop.default_exception_handler(context)
