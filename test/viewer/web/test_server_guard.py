"""The address of the web server and the requests that it accepts."""

import os
import socket
from collections.abc import Iterator

import pytest
from websockets.datastructures import Headers

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.web.server_guard import PrivateSocket, WebServerGuard


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


def test_the_server_listens_on_the_configured_interface_only(guard):
    assert guard.socket.getsockname()[0] == "127.0.0.1"
    with socket.create_connection(("127.0.0.1", guard.port), timeout=5.0):
        pass
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", guard.port), timeout=5.0)


def test_the_next_port_is_used_if_one_is_taken():
    first = WebServerGuard("127.0.0.1", 0)
    second = WebServerGuard("127.0.0.1", first.port)
    assert first.port < second.port < first.port + 20
    assert first.address_text == first.url
    assert second.address_text == f"{second.url} (port {first.port} is taken)"
    first.close()
    second.close()


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7", "a" * 300])
def test_an_unknown_interface_is_named_in_the_error(host):
    with pytest.raises(UserInputError, match=host[:100]):
        WebServerGuard(host, 0)


def test_the_private_socket_accepts_only_connections_of_the_own_user(monkeypatch):
    listening = PrivateSocket(is_open=lambda: True)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    with socket.create_connection(listening.getsockname()) as own:
        accepted, address = listening.accept()
        assert address == own.getsockname()
        accepted.close()
    user = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with socket.create_connection(listening.getsockname()) as stranger:
        with pytest.raises(BlockingIOError):
            listening.accept()
        stranger.settimeout(5.0)
        assert stranger.recv(1) == b"", "a stranger's connection stays open"
    listening.close()
