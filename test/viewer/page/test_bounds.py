"""What the server of the page refuses, ends, and sends only once."""

import asyncio
import gzip
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import pytest
from eventually import eventually

from mujoco_ros.viewer.page import bounded_protocol, live
from mujoco_ros.viewer.page import server as page_server
from mujoco_ros.viewer.page.access import AccessTokens, Role
from mujoco_ros.viewer.page.compression import Compression
from mujoco_ros.viewer.page.guard import ROLE, PageGuard
from mujoco_ros.viewer.page.page_address import PageAddress

TEXT = b"text of a script; " * 200


class Application:
    """Answers with a text, and notes the roles of its clients."""

    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = [(n.encode(), v.encode()) for n, v in headers.items()]
        self.roles: list[Role] = []

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        self.roles.append(scope.get(ROLE))
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": TEXT[:100], "more_body": True})
        await send({"type": "http.response.body", "body": TEXT[100:]})


def answer(
    application: Any, path: str = "/", method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the answer to a request."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    path, _, query = path.partition("?")
    pairs = [(n.replace("_", "-").encode(), v.encode()) for n, v in headers.items()]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode()}
    # In a thread: playwright has a running loop in this one.
    with ThreadPoolExecutor(1) as thread:
        answer = application({**scope, "headers": pairs}, None, send)
        thread.submit(asyncio.run, answer).result()
    start = sent[0]
    found = {n.decode(): v.decode() for n, v in start["headers"]}
    return start["status"], found, b"".join(each.get("body", b"") for each in sent[1:])


@pytest.fixture
def address() -> Iterator[PageAddress]:
    created = PageAddress("127.0.0.1", 0)
    yield created
    created.socket.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1:80", "origin": "http://evil.example"},
        {},
    ],
)
def test_foreign_hosts_and_origins_are_refused(address, headers):
    application = Application({})
    assert answer(PageGuard(application, address), **headers)[0] == 403
    assert application.roles == []


def test_tokens_give_roles_and_the_path_watch_takes_control_away(address):
    address.tokens = AccessTokens()
    application = Application({"content-type": "text/plain"})
    guard = PageGuard(application, address)
    assert answer(guard, host="localhost")[0] == 401
    for role in (Role.CONTROL, Role.WATCH):
        link = address.tokens.link(address.url, role)
        status, headers, _ = answer(guard, "/?" + link.partition("?")[2], host="localhost")
        assert status in (302, 303, 307)
        cookie = headers["set-cookie"].partition(";")[0]
        assert answer(guard, host="localhost", cookie=cookie)[0] == 200
        assert application.roles[-1] is role
        assert answer(guard, "/watch", host="localhost", cookie=cookie)[0] == 200
        assert application.roles[-1] is Role.WATCH


@pytest.mark.parametrize(
    "length", [{}, {"content_length": "many"}, {"content_length": str(1 << 28)}]
)
def test_bodies_of_unknown_or_excessive_size_are_refused(address, length):
    application = Application({})
    guard = PageGuard(application, address)
    status, _, body = answer(guard, host="localhost", method="POST", **length)
    assert (status, application.roles) == (413, [])
    assert b"at most 134283264 bytes" in body
    assert answer(guard, host="localhost", method="POST", content_length="9")[0] == 200


def test_scripts_of_the_page_need_the_nonce_of_its_policy(address):
    class Page(Application):
        async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
            start = {"type": "http.response.start", "status": 200}
            await send({**start, "headers": [(b"content-type", b"text/html; charset=utf-8")]})
            await send({"type": "http.response.body", "body": b"<script>1</script>"})

    guard = PageGuard(Page({}), address)
    _, headers, body = answer(guard, host="localhost")
    nonce = body.split(b'"')[1].decode()
    assert f"'nonce-{nonce}'" in headers["content-security-policy"]
    assert "'unsafe-inline'" not in headers["content-security-policy"].partition("style-src")[0]
    assert answer(guard, host="localhost")[2] != body


def test_files_are_compressed_once(monkeypatch):
    calls = []
    compress = gzip.compress
    monkeypatch.setattr(gzip, "compress", lambda *a: (calls.append(a[1]), compress(*a))[1])
    files = Compression(Application({"content-type": "text/javascript", "etag": "1"}))
    for _ in range(3):
        status, headers, body = answer(files, "/page/x.js", accept_encoding="gzip, br")
        assert (status, headers["content-encoding"]) == (200, "gzip")
        assert int(headers["content-length"]) == len(body) < len(TEXT)
        assert gzip.decompress(body) == TEXT
    assert len(calls) == 1
    of_saved_file = {"content-type": "text/csv", "etag": "1", "cache-control": "no-store"}
    for headers in ({"content-type": "text/html"}, of_saved_file):
        calls.clear()
        others = Compression(Application(headers))
        for _ in range(2):
            assert gzip.decompress(answer(others, accept_encoding="gzip")[2]) == TEXT
        assert len(calls) == 2


@pytest.mark.parametrize(
    ("headers", "accepted"),
    [
        ({"content-type": "image/jpeg"}, "gzip"),
        ({"content-type": "text/css", "content-encoding": "br"}, "gzip"),
        ({"content-type": "text/css"}, "identity"),
        ({"content-type": "text/csv", "content-length": str(1 << 25)}, "gzip"),
    ],
)
def test_other_responses_are_sent_as_they_are(headers, accepted):
    _, found, body = answer(Compression(Application(headers)), accept_encoding=accepted)
    assert body == TEXT
    assert found == headers


def _has_ended(connection: socket.socket) -> bool:
    """Wait until the server ends a connection."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_connections_without_a_request_end(served, monkeypatch):
    monkeypatch.setattr(bounded_protocol, "SILENT_S", 0.3)
    port = served.address.port
    partial_request = b"GET / HTTP/1.1\r\nHost: local"
    for sent in (b"", partial_request):
        with socket.create_connection(("127.0.0.1", port), timeout=30.0) as connection:
            connection.sendall(sent)
            assert _has_ended(connection)


def test_requests_without_a_browser_keep_no_page_out(served, tabs, url, monkeypatch):
    monkeypatch.setattr(page_server, "_MOST_PAGES", 2)
    for _ in range(3):
        connection = HTTPConnection("127.0.0.1", served.address.port, timeout=60.0)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
    for status in (200, 200, 503):
        page = tabs.new_page()
        assert page.goto(url).status == status
        if status == 200:
            page.wait_for_function("window.did_handshake")


def test_browsers_that_are_gone_or_mute_keep_no_page_out(served, tabs, url, monkeypatch):
    monkeypatch.setattr(page_server, "_MOST_PAGES", 2)
    monkeypatch.setattr(live, "_MUTE_S", 0.5)
    mute = tabs.new_page()
    mute.goto(url)
    mute.wait_for_function("window.did_handshake")
    other = tabs.new_page()
    assert other.goto(url).status == 200
    other.wait_for_function("window.did_handshake")
    assert tabs.new_page().goto(url).status == 503
    mute.evaluate("window.socket.off('live')")
    eventually(lambda: any(session.feed.is_mute for session, _ in served.server._layouts.values()))
    assert tabs.new_page().goto(url).status == 200
    assert other.evaluate("window.socket.connected")


def test_silent_connections_keep_no_page_out(served):
    port = served.address.port
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(160)]
    try:
        connection = HTTPConnection("127.0.0.1", port, timeout=60.0)
        connection.request("GET", "/page/page.css")
        response = connection.getresponse()
        assert response.status == 200
        assert b":root" in response.read()
    finally:
        for each in silent:
            each.close()
