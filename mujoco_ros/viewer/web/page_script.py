"""The script added to Studio's page: it measures its lag, reconnects, keeps the theme, draws the
scene only where no panel covers it, reads touches, and holds back input that the viewer would miss.

Until the program of the page runs, it shows that it loads, and if it fails, why.
"""

import html
import re
from pathlib import Path

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


def part(name: str) -> bytes:
    """Return a part of the script, as an element of the page."""
    return b"<script>%s</script>" % Path(__file__).with_name(f"{name}.js").read_bytes()


_SCRIPT = b"".join(map(part, _PARTS))
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
