"""Who may come in to the page."""

import os
import socket
from collections.abc import Iterator

import pytest
from websockets.datastructures import Headers

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.web.server_guard import PrivateSocket, WebServerGuard


@pytest.fixture(scope="module")
def door() -> Iterator[WebServerGuard]:
    door = WebServerGuard("127.0.0.1", 0)
    yield door
    door.close()


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
def test_who_calls_the_server_by_a_name_of_its_own_is_answered(door, host, origin):
    assert door.refusal("/", headers(host, origin)) == ""


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (None, None),
        ("", None),
        ("evil.example:8080", None),  # a name that was made to resolve to this machine
        ("evil.example:8080", "http://evil.example:8080"),
        ("localhost.evil.example", None),
        ("[::1", None),
        ("localhost:8080", "http://evil.example"),
        ("localhost:8080", "http://localhost:9000"),  # another server's page
        ("localhost:8080", "http://[localhost:8080"),
        ("localhost:8080", "null"),  # a page in a sandbox, or in a file
    ],
)
def test_pages_of_others_are_refused_whatever_they_call_the_server(door, host, origin):
    assert door.refusal("/model?total_bytes", headers(host, origin)) != ""


def test_a_request_with_two_hosts_is_refused(door):
    both = Headers([("Host", "localhost"), ("Host", "evil.example")])
    assert "evil.example" in door.refusal("/", both)


def test_files_are_refused_from_everybody(door):
    assert "over ROS" in door.refusal("/drop?sid=1", headers("localhost"))


def test_a_server_that_is_given_a_name_answers_to_it():
    named = WebServerGuard("localhost", 0)
    assert named.refusal("/", headers("localhost:1")) == ""
    assert named.url == f"http://localhost:{named.port}/"
    named.close()


def test_names_that_others_can_claim_in_the_network_lead_to_no_server_on_loopback(door):
    name = socket.gethostname().lower()
    open_to_all = WebServerGuard("0.0.0.0", 0)
    for own in (name, f"{name.partition('.')[0]}.local"):
        assert "not called" in door.refusal("/", headers(own))
        assert open_to_all.refusal("/", headers(own)) == ""
    open_to_all.close()


def test_it_listens_where_it_is_told_and_nowhere_else(door):
    assert door.socket.getsockname()[0] == "127.0.0.1"
    with socket.create_connection(("127.0.0.1", door.port), timeout=5.0):
        pass
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", door.port), timeout=5.0)


def test_the_next_port_is_taken_where_one_is_in_use():
    first = WebServerGuard("127.0.0.1", 0)
    second = WebServerGuard("127.0.0.1", first.port)
    assert first.port < second.port < first.port + 20
    assert first.whereabouts == first.url
    assert second.whereabouts == f"{second.url} (port {first.port} is taken)"
    first.close()
    second.close()


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7", "a" * 300])
def test_an_interface_that_this_machine_has_not_is_refused_by_name(host):
    with pytest.raises(UserInputError, match=host[:100]):
        WebServerGuard(host, 0)


def test_the_inner_socket_takes_only_ones_own_connections(monkeypatch):
    listening = PrivateSocket()
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
