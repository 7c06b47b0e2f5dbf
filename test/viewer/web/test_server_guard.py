"""The address of the web server and the requests that it accepts."""

import asyncio
import gc
import logging
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed

from mujoco_ros.viewer.web import bounded_connection, marked_connection
from mujoco_ros.viewer.web.marked_connection import released
from mujoco_ros.viewer.web.server_guard import WebServerGuard

PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def guard() -> Iterator[WebServerGuard]:
    guard = WebServerGuard("127.0.0.1", 0)
    yield guard
    guard.close()


def headers(host: str | None, origin: str | None = None) -> Headers:
    given = {"Host": host, "Origin": origin}
    return Headers({name: value for name, value in given.items() if value is not None})


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8080", None),
        ("LOCALHOST", None),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:9000", "http://localhost:9000"),  # as through an SSH tunnel
        ("[::1]:8080", "http://[::1]:8080"),
        ("192.168.1.5:8080", None),
        ("localhost", "https://localhost"),  # as behind a proxy
    ],
)
def test_a_request_to_a_name_of_the_server_is_accepted(guard, host, origin):
    assert guard.rejection("/", headers(host, origin)) == ""


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (None, None),
        ("", None),
        ("evil.example:8080", None),  # DNS rebinding
        ("evil.example:8080", "http://evil.example:8080"),
        ("localhost.evil.example", None),
        ("[::1", None),
        ("localhost:8080", "http://evil.example"),
        ("localhost:8080", "http://localhost:9000"),  # another server's page
        ("localhost:8080", "http://[localhost:8080"),
        ("localhost:8080", "null"),  # a page in a sandbox, or in a file
    ],
)
def test_a_request_of_another_site_is_rejected(guard, host, origin):
    assert guard.rejection("/model?total_bytes", headers(host, origin)) != ""


def test_a_request_with_two_hosts_is_rejected(guard):
    both = Headers([("Host", "localhost"), ("Host", "evil.example")])
    assert "evil.example" in guard.rejection("/", both)


def test_dropped_files_are_rejected(guard):
    assert "over ROS" in guard.rejection("/drop?sid=1", headers("localhost"))


def test_the_configured_host_name_is_a_name_of_the_server():
    named = WebServerGuard("localhost", 0)
    assert named.rejection("/", headers("localhost:1")) == ""
    assert named.url == f"http://localhost:{named.port}/"
    named.close()


def test_host_names_of_the_network_are_rejected_on_loopback(guard):
    name = socket.gethostname().lower()
    open_to_all = WebServerGuard("0.0.0.0", 0)
    for own in (name, f"{name.partition('.')[0]}.local"):
        assert "not a name" in guard.rejection("/", headers(own))
        assert open_to_all.rejection("/", headers(own)) == ""
    open_to_all.close()


def connections(
    handler: Callable[[Any], Awaitable[None]], client: Callable[[ClientConnection], Awaitable[None]]
) -> None:
    """Serve with a handler while a client is connected, and until it is handled."""
    guard = WebServerGuard("127.0.0.1", 0)

    async def run() -> None:
        options = {
            "finish": lambda *_: None,
            "responses": {},
            "handlers": {},
            "watched": (),
            "process_request": lambda *_: None,
            "process_response": lambda *_: None,
        }
        async with guard.serve(handler, sock=guard.socket, **options):
            connection = await connect(f"ws://127.0.0.1:{guard.port}/ui")
            await client(connection)
            while guard.connections:
                await asyncio.sleep(0.01)

    # Another test's browser may have the event loop of this thread.
    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    thread.join()
    guard.close()
    gc.collect()  # the end of a task whose exception nothing has handled


async def send_from_a_task(connection: Any) -> None:
    """Handle a connection as Studio does."""

    async def send() -> None:
        while True:
            await connection.send(b"state")
            await asyncio.sleep(0.001)

    sending = asyncio.create_task(send())
    async for message in connection:
        assert message == b"version"
    await asyncio.wait([sending])


def test_a_page_that_resets_its_connection_is_not_an_error(caplog):
    caplog.set_level(logging.INFO)

    async def reset(connection: ClientConnection) -> None:
        await connection.send(b"version")
        await connection.recv()
        at_once = struct.pack("ii", 1, 0)
        opened = connection.transport.get_extra_info("socket")
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        connection.transport.abort()

    connections(send_from_a_task, reset)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_an_error_of_what_a_client_sends_is_one_line_and_closes_its_connection(caplog):
    async def fail(connection: Any) -> None:
        raise TypeError(f"not {await connection.recv()!r}")

    async def send_text(connection: ClientConnection) -> None:
        await connection.send("text")
        with pytest.raises(ConnectionClosed):
            await connection.recv()

    connections(fail, send_text)
    (record,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert record.getMessage() == "closing a connection: TypeError: not 'text'"
    assert record.exc_info is None


class OneController:
    """Handles the panels of one page at a time, as Studio does."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        self._is_taken = False

    async def __call__(self, connection: Any) -> None:
        if self._is_taken:
            await connection.close(4001, "controller slot taken")
            return
        self._is_taken = True
        async for message in connection:
            self.received.append(message)
        self._is_taken = False


def address(connection: ClientConnection) -> str:
    return f"ws://127.0.0.1:{connection.remote_address[1]}/ui"


def test_panels_that_send_nothing_do_not_keep_control():
    control = OneController()

    async def replace(silent: ClientConnection) -> None:
        async with connect(address(silent)) as page, asyncio.timeout(PATIENCE_S):
            await page.send(b"version")
            while not control.received:
                await asyncio.sleep(0.01)
            await silent.wait_closed()
            async with connect(address(silent)) as other:
                await other.wait_closed()
                assert other.close_code == 4001, "a page that has sent a message was replaced"
            await page.send(b"input")

    connections(control, replace)
    assert control.received == [b"version", b"input"]


def test_a_refused_client_that_does_not_close_is_disconnected(monkeypatch):
    monkeypatch.setattr(bounded_connection, "REQUEST_S", 0.1)
    upgrade = (
        b"GET /ui HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )

    async def be_refused(page: ClientConnection) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await page.send(b"version")
            reader, writer = await asyncio.open_connection(*page.remote_address)
            writer.write(upgrade)
            with suppress(ConnectionResetError):
                assert b"controller slot taken" in await reader.read()
            writer.close()
            await page.close()

    connections(OneController(), be_refused)


def test_a_page_that_is_reloaded_keeps_control_while_its_input_is_released(monkeypatch):
    monkeypatch.setattr(marked_connection, "_RELEASE_S", 1.0)  # no frame reads the release
    control, pressed = OneController(), struct.pack("<IB", 616, 2) + bytes(611)

    async def reload(connection: ClientConnection) -> None:
        await connection.send(pressed)
        await connection.close()
        async with connect(address(connection)) as again:
            await again.send(b"version")

    connections(control, reload)
    assert control.received == [pressed, released(pressed), b"version"]
