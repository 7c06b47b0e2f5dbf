"""Compression of responses over HTTP."""

import gzip

import pytest
import zstandard
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from mujoco_ros.viewer.web import compression
from mujoco_ros.viewer.web.compression import ResponseCompression

BODY = b"the program of the page " * 1000
BROWSER = "gzip, deflate, br, zstd"


def respond(
    accepted: str | None = "gzip, deflate",
    body: bytes = BODY,
    kind: str = "application/wasm",
    status: int = 200,
    by: ResponseCompression | None = None,
) -> Response:
    headers = {} if accepted is None else {"Accept-Encoding": accepted}
    length = {"Content-Type": kind, "Content-Length": str(len(body))}
    response = Response(status, "OK", Headers(length), body)
    (by or ResponseCompression()).apply(Request("/web_client.wasm", Headers(headers)), response)
    return response


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        (BROWSER, "zstd"),
        ("ZSTD;q=0.1", "zstd"),
        ("GZIP", "gzip"),
        ("br;q=1.0, gzip;q=0.8, zstd;q=0", "gzip"),
    ],
)
def test_a_body_is_compressed_for_a_client_that_accepts_it(accepted: str, coding: str) -> None:
    response = respond(accepted)
    expand = {"gzip": gzip.decompress, "zstd": zstandard.ZstdDecompressor().decompress}[coding]
    assert expand(response.body) == BODY
    assert response.headers["Content-Encoding"] == coding
    assert response.headers.get_all("Content-Length") == [str(len(response.body))]
    assert response.headers["Vary"] == "Accept-Encoding"
    assert len(response.body) < len(BODY) / 10


@pytest.mark.parametrize(
    "how",
    [
        {"accepted": None},
        {"accepted": "br, identity"},
        {"accepted": "gzip;q=0"},
        {"accepted": "gzip;q=0.000"},
        {"kind": "image/png"},
        {"body": b"short"},
        {"status": 404},
        {"body": bytes(1 << 26)},
    ],
    ids=range(8),
)
def test_other_bodies_stay_as_they_are(how: dict) -> None:
    response = respond(**how)
    assert response.body == how.get("body", BODY)
    assert "Content-Encoding" not in response.headers
    assert response.headers.get_all("Content-Length") == [str(len(response.body))]


def test_a_body_is_compressed_once_and_few_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(compression, "_KEPT_BYTES", 16 * len(gzip.compress(BODY, 4)))
    compressed: list[int] = []
    original = gzip.compress

    def compress(body: bytes, *args: object, **options: object) -> bytes:
        compressed.append(len(body))
        return original(body, *args, **options)

    monkeypatch.setattr(compression.gzip, "compress", compress)
    by = ResponseCompression()
    assert respond(by=by).body == respond(by=by).body
    assert len(compressed) == 1
    for number in range(20):
        respond(body=BODY + bytes([number]), by=by)
        respond(by=by)
    assert len(compressed) == 21, "the one that is requested often stays"
    for number in range(20):
        respond(body=BODY + bytes([number, 1]), by=by)
    respond(by=by)
    assert len(compressed) == 42
