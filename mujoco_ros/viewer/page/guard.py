"""The rules for requests to the page: names, origins, tokens, and headers of responses."""

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response

from mujoco_ros.model.file_access import LARGEST_FILE
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.page.page_address import PageAddress

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

ROLE = "mujoco_ros.role"
"""Key of the role of a client in the scope of its request."""
WATCH_PAGE = "/watch"
"""Path of the page without control."""
PHONE_PAGE = "/phone"
"""Path of the page in the layout of phones."""
_LARGEST_BODY = LARGEST_FILE.of_client + (1 << 16)  # bytes of a request: a file, and its headers
_NO_TOKEN = "open the page with a link from the terminal of the simulator; it contains a token\n"
_HARDENING = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# NiceGUI compiles templates of Vue and runs calls of methods by eval; scripts need the nonce.
_POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_SCRIPT = re.compile(rb"<script\b")
_REVOKED = {b"access-control-allow-origin", b"access-control-allow-credentials", b"server"}


class PageGuard:
    """Rejects requests that break the rules, before the application sees them."""

    def __init__(self, application: Application, address: PageAddress) -> None:
        self._application, self._address = application, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or a connection of a WebSocket."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        answer = self._answer(HTTPConnection(scope))
        if scope["type"] == "websocket":
            if answer is not None:
                await send({"type": "websocket.close", "code": 1008, "reason": ""})  # becomes a 403
            else:
                await self._application(scope, receive, send)
        elif answer is not None:
            answer.headers.update(_HARDENING)
            await answer(scope, receive, send)
        else:
            await self._application(scope, receive, _Hardened(send))

    def _answer(self, connection: HTTPConnection) -> Response | None:
        """Return the response to a request that is not passed on; note the role of another one."""
        if reason := self._address.refusal(connection.headers):
            return _text(403, f"{reason}\n")
        if connection.scope.get("method") not in (None, "GET", "HEAD"):
            size = connection.headers.get("content-length", "")
            if not size.isdecimal() or int(size) > _LARGEST_BODY:
                return _text(413, f"a request must say that it has at most {_LARGEST_BODY} bytes\n")
        role: Role | None = Role.CONTROL
        tokens, cookie = self._address.tokens, self._address.cookie
        if tokens is not None:
            if (login := tokens.login(connection, cookie)) is not None:
                return login
            role = tokens.role(connection.headers, cookie)
        if role is None:
            return _text(401, _NO_TOKEN)
        connection.scope[ROLE] = Role.WATCH if connection.scope["path"] == WATCH_PAGE else role
        return None


class _Hardened:
    """Sends a response with further headers; scripts of a page get the nonce of its policy."""

    def __init__(self, send: Send) -> None:
        self._send, self._start, self._body = send, dict[str, Any](), b""
        self._nonce = secrets.token_urlsafe(16)

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message["headers"] if pair[0].lower() not in _REVOKED]
            added = {**_HARDENING, "Content-Security-Policy": _POLICY.format(nonce=self._nonce)}
            kept += [(name.lower().encode(), value.encode()) for name, value in added.items()]
            message = {**message, "headers": kept}
            if not _is_page(kept):
                await self._send(message)
            else:
                self._start = dict(message)
            return
        if not self._start:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        # Text in the page is escaped: each "<script" is an element of the page.
        body = _SCRIPT.sub(b'<script nonce="%s"' % self._nonce.encode(), self._body)
        headers = [pair for pair in self._start["headers"] if pair[0] != b"content-length"]
        self._start["headers"] = [*headers, (b"content-length", str(len(body)).encode())]
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body})


def _is_page(headers: list[tuple[bytes, bytes]]) -> bool:
    return any(n == b"content-type" and value.startswith(b"text/html") for n, value in headers)


def _text(status: int, text: str) -> Response:
    return PlainTextResponse(text, status, {"Connection": "close"})
