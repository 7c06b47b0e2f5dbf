"""The rules for requests to the page: names, origins, tokens, and headers of responses."""

import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

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
        headers = Headers(
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        )
        if reason := self._address.refusal(headers):
            await _respond(scope, send, _text(403, f"{reason}\n"))
            return
        role: Role | None = Role.CONTROL
        tokens = self._address.tokens
        if tokens is not None:
            query = scope["query_string"].decode("latin-1")
            path = scope["path"] + (f"?{query}" if query else "")
            login = tokens.login(Request(path, headers), self._address.cookie)
            if login is not None:
                await _respond(scope, send, login)
                return
            role = tokens.role(headers, self._address.cookie)
        if role is None:
            await _respond(scope, send, _text(401, _NO_TOKEN))
            return
        scope[ROLE] = Role.WATCH if scope["path"] == WATCH_PAGE else role
        if scope["type"] == "websocket":
            await self._application(scope, receive, send)
        else:
            await self._application(scope, receive, _Hardened(send))


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
    headers = Headers({"Content-Type": "text/plain; charset=utf-8", "Connection": "close"})
    return Response(status, "", headers, text.encode())


async def _respond(scope: Scope, send: Send, response: Response) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": ""})  # becomes a 403
        return
    pairs = [*response.headers.raw_items(), *_HARDENING.items()]
    kept = [(n.lower().encode(), v.encode()) for n, v in pairs if n.lower() != "content-length"]
    kept.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status_code, "headers": kept})
    await send({"type": "http.response.body", "body": bytes(response.body)})
