"""Compression of the responses to requests over HTTP."""

import gzip
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping

import zstandard
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.http11 import Request, Response

_TYPES = ("text/", "application/")
_GZIP_LEVEL = 4
"""The program of the page shrinks to 36 %, in 0.16 s; level 9 needs 0.6 s for 35 %."""
_ZSTD = zstandard.ZstdCompressionParameters.from_level(9, window_log=23, enable_ldm=True)
"""The program of the page shrinks to 31 %, in 0.5 s. Browsers reject larger windows."""
_SMALLEST, _LARGEST = 1 << 10, 1 << 25
"""Bytes of a body: smaller ones are not worth it, larger ones take longer than 0.8 s."""
_KEPT_BYTES = 1 << 25
"""Bytes of compressed bodies that are kept: program, model, and parts of the model."""


_CODINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstandard.ZstdCompressor(compression_params=_ZSTD).compress(body),
    "gzip": lambda body: gzip.compress(body, _GZIP_LEVEL, mtime=0),
}
"""The best first. Browsers accept zstd from this machine and over HTTPS."""


def message_compression() -> ServerPerMessageDeflateFactory:
    """Return the compression of WebSocket messages: a state shrinks to a third.

    The first frame of the panels, with their fonts, shrinks from 4.9 to 0.4 MB.
    """
    return ServerPerMessageDeflateFactory(compress_settings={"level": 2, "memLevel": 8})


class ResponseCompression:
    """Compresses bodies for clients that accept it, each of them once."""

    def __init__(self) -> None:
        """Begin without compressed bodies."""
        self._kept: OrderedDict[tuple[str, bytes], bytes] = OrderedDict()

    def apply(self, request: Request, response: Response) -> None:
        """Compress the body of a response."""
        headers, body = response.headers, response.body
        if not headers.get("Content-Type", "").startswith(_TYPES) or not (
            _SMALLEST <= len(body) <= _LARGEST
        ):
            return
        headers["Vary"] = "Accept-Encoding"
        accepted = _accepted(request)
        coding = next((it for it in _CODINGS if it in accepted), None)
        if coding is None or response.status_code != 200:
            return
        response.body = self._compressed(bytes(body), coding)
        headers["Content-Encoding"] = coding
        del headers["Content-Length"]
        headers["Content-Length"] = str(len(response.body))

    def _compressed(self, body: bytes, coding: str) -> bytes:
        key = coding, hashlib.blake2b(body).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = self._kept[key] = _CODINGS[coding](body)
        while sum(map(len, self._kept.values())) > _KEPT_BYTES:
            self._kept.popitem(last=False)
        return found


def _accepted(request: Request) -> set[str]:
    """Return the codings that a client accepts, in lower case."""
    found = set()
    for each in ",".join(request.headers.get_all("Accept-Encoding")).lower().split(","):
        coding, _, quality = each.replace(" ", "").partition(";q=")
        if not quality or quality.strip("0.") != "":
            found.add(coding)
    return found
