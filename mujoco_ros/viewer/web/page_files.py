"""The files of the pages: Studio's page with an added script, its materials, and the phones'.

The added script measures the lag of the page, reconnects, keeps the theme, draws the scene only
where no panel covers it, reads touches, and holds back input that the viewer would miss. Until the
program of the page runs, the script shows that the page loads, and if it fails, why.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

from mujoco import studio
from websockets.datastructures import Headers
from websockets.http11 import Response

PAGES = ("/", "/index.html")
"""Paths of Studio's page."""
_PARTS = (
    "page_failure",
    "large_views",
    "visible_scene",
    "touch_input",
    "held_input",
    "page_script",
)
_HEAD = b"<head>"
_TITLE = re.compile(rb"<title>[^<]*</title>")


def script_part(name: str) -> bytes:
    """Return a part of the script, as an element of the page."""
    return b"<script>%s</script>" % Path(__file__).with_name(f"{name}.js").read_bytes()


_SCRIPT = b"".join(map(script_part, _PARTS))
_OVERLAY = b'<script type="module" data-optional src="/teleop/overlay.js"></script>'


def add_script(path: str, response: Response, *, title: str) -> None:
    """Add the script, and set the title, if the response is the page."""
    if path.partition("?")[0] not in PAGES or response.status_code != 200:
        return
    body = response.body.replace(_HEAD, _HEAD + _SCRIPT + _OVERLAY, 1)
    named = f"<title>{html.escape(title)}</title>".encode()
    response.body = _TITLE.sub(lambda _: named, body, count=1)
    del response.headers["Content-Length"]
    response.headers["Content-Length"] = str(len(response.body))


MATERIALS = "/materials"
"""Path of the response; the script of the page requests it."""
_ASSETS = Path(studio.__file__).parent / "assets"


def respond_with_materials() -> Response:
    """Return the files: a line of JSON with their names and sizes, and their content in turn."""
    # What the page shares with its threads needs both policies on every response.
    policies = {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
    }
    return _response("application/octet-stream", _bundle(), policies)


@cache
def _bundle() -> bytes:
    files = {file.name: file.read_bytes() for file in sorted(_ASSETS.glob("*.filamat"))}
    index = json.dumps([[name, len(content)] for name, content in files.items()])
    return b"".join([index.encode(), b"\n", *files.values()])


CONNECTION = "/teleop"
"""Path of the WebSocket connection."""
READ_ONLY = "?watch"
"""End of the path of a connection that has no control."""
PHONE, WATCH = "/phone", "/watch"
"""Paths of the page for phones and of the read-only one, which is the same file."""
_FOLDER = Path(__file__).parents[1] / "teleop" / "static"
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
    policies = {"Cache-Control": "no-cache", "Content-Security-Policy": _POLICY}
    return _response(f"{_TYPES[file.suffix]}; charset=utf-8", file.read_bytes(), policies)


def _response(kind: str, body: bytes, policies: Mapping[str, str]) -> Response:
    described = {"Content-Type": kind, "Content-Length": str(len(body)), **policies}
    return Response(200, "OK", Headers(described), body)
