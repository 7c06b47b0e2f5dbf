"""Silent connections, which keep no client out."""

import gzip
import http.client
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
import zstandard
from mujoco.studio import viewer_protocol
from served_pages import ServedPages
from still_state import StillState
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.client import ClientConnection, connect

from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.teleop import server
from mujoco_ros.viewer.web import bounded_connection
from mujoco_ros.viewer.web.access import AccessTokens, Role
from mujoco_ros.viewer.web.bounded_connection import ResponseCompression
from mujoco_ros.viewer.web.page import open_page
from mujoco_ros.viewer.web.server_guard import WebServerGuard

PATIENCE_S = 120.0
NEIGHBOUR = "127.0.0.2"


@pytest.fixture(scope="module")
def guard() -> Iterator[WebServerGuard]:
    """Serve the page as to other machines."""
    guard, state, opened = WebServerGuard("0.0.0.0", 0), StillState("arm"), threading.Event()
    guard.tokens = AccessTokens()

    def run() -> None:
        page = open_page(guard, Feed(state, EntityDisplays(state)), [])
        opened.set()
        viewer_protocol.run_viewer_loop(page)

    thread = threading.Thread(target=run)
    thread.start()
    assert opened.wait(PATIENCE_S)
    yield guard
    state.ended = True
    thread.join()


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no time limit end a connection."""
    monkeypatch.setattr(bounded_connection, "REQUEST_S", 1000.0)


def cookie(guard: WebServerGuard) -> dict[str, str]:
    assert guard.tokens is not None
    return {"Cookie": f"{guard.cookie}={guard.tokens.tokens[Role.CONTROL]}"}


def silent(guard: WebServerGuard, stack: ExitStack, source: str = "127.0.0.1") -> socket.socket:
    address = "127.0.0.1", guard.port
    return stack.enter_context(socket.create_connection(address, PATIENCE_S, (source, 0)))


def page_status(guard: WebServerGuard, source: str = "127.0.0.1") -> int:
    connection = http.client.HTTPConnection(
        "127.0.0.1", guard.port, timeout=PATIENCE_S, source_address=(source, 0)
    )
    connection.request("GET", "/", headers=cookie(guard))
    status = connection.getresponse().status
    connection.close()
    return status


def has_ended(client: socket.socket) -> bool:
    """Wait for data or the end of a connection; return whether it has ended."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def webs(guard: WebServerGuard, path: str) -> ClientConnection:
    """Connect; a client that reads nothing does not read the server's end of its connection."""
    address = f"ws://127.0.0.1:{guard.port}{path}"
    return connect(address, additional_headers=cookie(guard), close_timeout=0.1)


def until_closed(connection: ClientConnection) -> int | None:
    with suppress(ConnectionClosed):
        while True:
            connection.recv(PATIENCE_S)
    return connection.close_code


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: local"])
@pytest.mark.parametrize("count", [128, 300])
def test_idle_connections_keep_no_client_out(guard, sent, count):
    with ExitStack() as stack:
        for _ in range(count):
            silent(guard, stack).sendall(sent)
        assert page_status(guard) == 200
        assert page_status(guard, NEIGHBOUR) == 200


def test_a_new_connection_replaces_the_oldest_of_the_address_with_most_of_them(guard, monkeypatch):
    monkeypatch.setattr(bounded_connection, "MOST_UNKNOWN", 3)
    with ExitStack() as stack:
        neighbour = silent(guard, stack, NEIGHBOUR)
        first, second = (silent(guard, stack) for _ in range(2))
        silent(guard, stack)
        assert has_ended(first)
        for kept in (neighbour, second):
            kept.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert not has_ended(kept)


def test_an_address_of_a_known_client_keeps_its_connections(guard, monkeypatch):
    assert page_status(guard, "127.0.0.3") == 200
    monkeypatch.setattr(bounded_connection, "MOST_UNKNOWN", 3)
    with ExitStack() as stack:
        known = [silent(guard, stack, "127.0.0.3") for _ in range(2)]
        stranger = silent(guard, stack, "127.0.0.4")
        silent(guard, stack, "127.0.0.5")
        assert has_ended(stranger)
        for kept in known:
            kept.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert not has_ended(kept)


def test_a_connection_with_a_message_is_never_replaced(guard, monkeypatch):
    with webs(guard, "/state?sid=known") as known, ExitStack() as stack:
        known.send("heartbeat")
        monkeypatch.setattr(bounded_connection, "MOST_UNKNOWN", 1)
        for _ in range(20):
            silent(guard, stack)
        assert page_status(guard) == 200
        known.send("heartbeat")
        assert known.recv(PATIENCE_S)


def test_a_session_is_one_connection(guard):
    with webs(guard, "/state?sid=one") as first, webs(guard, "/state?sid=one") as second:
        assert second.recv(PATIENCE_S)
        until_closed(first)
        with webs(guard, "/state?sid=another"):
            second.send("heartbeat")
            assert second.recv(PATIENCE_S)


def test_silent_sessions_keep_no_page_out(guard):
    with ExitStack() as stack:
        for number in range(12):
            stack.enter_context(webs(guard, f"/state?sid=silent{number}"))
        page = stack.enter_context(webs(guard, "/state?sid=page"))
        assert "viewers=" in str(page.recv(PATIENCE_S))


def test_a_session_that_speaks_is_not_replaced(guard):
    with ExitStack() as stack:
        for number in range(9):
            page = stack.enter_context(webs(guard, f"/state?sid=page{number}"))
            page.send("heartbeat")
        assert until_closed(stack.enter_context(webs(guard, "/state?sid=tenth"))) == 4002


def test_silent_pages_for_phones_keep_no_page_out(monkeypatch):
    monkeypatch.setattr(server, "_MOST_PAGES", 2)
    pages = ServedPages()
    try:
        address = f"ws://127.0.0.1:{pages.guard.port}/teleop"
        with ExitStack() as stack:
            for _ in range(2):
                stack.enter_context(connect(address, close_timeout=0.1))
            page = stack.enter_context(connect(address))
            page.send('{"alive": true}')
            assert page.recv(PATIENCE_S)
    finally:
        pages.close()


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
    monkeypatch.setattr(bounded_connection, "_KEPT_BYTES", 16 * len(gzip.compress(BODY, 4)))
    compressed: list[int] = []
    original = gzip.compress

    def compress(body: bytes, *args: object, **options: object) -> bytes:
        compressed.append(len(body))
        return original(body, *args, **options)

    monkeypatch.setattr(bounded_connection.gzip, "compress", compress)
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
