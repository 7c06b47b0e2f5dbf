"""The materials of Studio's renderer in one response: together they compress to a quarter."""

import json
from functools import cache
from pathlib import Path

from mujoco import studio
from websockets.datastructures import Headers
from websockets.http11 import Response

PATH = "/materials"
"""Path of the response; the script of the page requests it."""
_ASSETS = Path(studio.__file__).parent / "assets"


def respond() -> Response:
    """Return the files: a line of JSON with their names and sizes, and their content in turn."""
    body = _bundle()
    headers = Headers(
        {
            "Content-Type": "application/octet-stream",
            "Content-Length": str(len(body)),
            # What the page shares with its threads needs both on every response.
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Embedder-Policy": "require-corp",
        }
    )
    return Response(200, "OK", headers, body)


@cache
def _bundle() -> bytes:
    files = {file.name: file.read_bytes() for file in sorted(_ASSETS.glob("*.filamat"))}
    index = json.dumps([[name, len(content)] for name, content in files.items()])
    return b"".join([index.encode(), b"\n", *files.values()])
