"""The files of the pages."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from websockets.datastructures import Headers
from websockets.http11 import Response

CONNECTION = "/teleop"
"""Path of the WebSocket connection."""
READ_ONLY = "?watch"
"""End of the path of a connection that has no control."""
PHONE, WATCH = "/phone", "/watch"
"""Paths of the page for phones and of the read-only one, which is the same file."""
_FOLDER = Path(__file__).parent / "static"
_PAGE = "phone.html"
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' blob:"
)


def watched() -> list[str]:
    """Return the paths for clients that may only watch; the first one is their page."""
    return [WATCH, CONNECTION, *(path for path in responses() if path.startswith(CONNECTION))]


def responses() -> Mapping[str, Callable[[], Response]]:
    """Return the response to the request of each path."""
    files = {
        f"{CONNECTION}/{file.name}": file for file in _FOLDER.iterdir() if file.suffix in _TYPES
    }
    files |= {PHONE: _FOLDER / _PAGE, WATCH: _FOLDER / _PAGE}
    return {path: partial(_respond, file) for path, file in files.items()}


def _respond(file: Path) -> Response:
    body = file.read_bytes()
    headers = Headers(
        {
            "Content-Type": f"{_TYPES[file.suffix]}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Cache-Control": "no-cache",
            "Content-Security-Policy": _POLICY,
        }
    )
    return Response(200, "OK", headers, body)
