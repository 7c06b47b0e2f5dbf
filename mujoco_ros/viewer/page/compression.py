"""Compresses responses; files that do not change are compressed once."""

import asyncio
import gzip
from typing import Any

from mujoco_ros.viewer.page.guard import Application, Message, Receive, Scope, Send

_LEAST = 500  # bytes of a response that is worth it
_ONCE, _EACH = 9, 4  # levels of compression of files, and of other responses
_MOST = 16 << 20  # bytes of compressed files that are kept
_TYPES = ("text/", "application/javascript", "application/json", "image/svg+xml", "font/ttf")

Key = tuple[str, bytes]
"""Path of a file, and its version."""


class Compression:
    """Compresses the responses of an application to GET requests, if the client can read them."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._files: dict[Key, bytes] = {}  # compressed ones, the one used last at the end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or a connection of a WebSocket."""
        if scope["type"] == "http" and scope["method"] == "GET" and _reads_gzip(scope):
            send = _Compressed(self, scope["path"], send)
        await self._application(scope, receive, send)

    async def compress(self, key: Key | None, body: bytes) -> bytes:
        """Compress a body, once for each key; None is for one that is not kept."""
        if key is None:
            return await asyncio.to_thread(gzip.compress, body, _EACH)
        found = self._files.pop(key, None)
        if found is None:
            found = await asyncio.to_thread(gzip.compress, body, _ONCE)
        self._files[key] = found
        while sum(map(len, self._files.values())) > _MOST:
            del self._files[next(iter(self._files))]
        return found


class _Compressed:
    """Sends a response, compressed if that makes sense."""

    def __init__(self, compression: Compression, path: str, send: Send) -> None:
        self._compression, self._path, self._send = compression, path, send
        self._start: dict[str, Any] | None = None  # of a response that is compressed
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            if message["status"] == 200 and _is_worth(headers):
                self._start = dict(message)
                return
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._finish(self._start)
            return
        await self._send(message)

    async def _finish(self, start: dict[str, Any]) -> None:
        headers = dict(start["headers"])
        body, added = bytes(self._body), [(b"vary", b"Accept-Encoding")]
        if len(body) >= _LEAST:
            is_kept = b"no-store" not in headers.get(b"cache-control", b"")
            version = headers.get(b"etag") if is_kept else None  # a file that is saved once is not
            key = None if version is None else (self._path, version)
            body = await self._compression.compress(key, body)
            added.append((b"content-encoding", b"gzip"))
        kept = [pair for pair in start["headers"] if pair[0] != b"content-length"]
        start["headers"] = [*kept, *added, (b"content-length", str(len(body)).encode())]
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _reads_gzip(scope: Scope) -> bool:
    return any(name == b"accept-encoding" and b"gzip" in value for name, value in scope["headers"])


def _is_worth(headers: dict[bytes, bytes]) -> bool:
    kind = headers.get(b"content-type", b"").decode("latin-1")
    is_text = kind.startswith(_TYPES) and not kind.startswith("text/event-stream")
    is_small = int(headers.get(b"content-length", b"0")) <= _MOST  # others are sent as they come
    return b"content-encoding" not in headers and is_text and is_small
