"""The address of the page, and the requests that it accepts."""

import socket
from collections.abc import Iterator

import pytest
from starlette.datastructures import Headers

from mujoco_ros.viewer.page.page_address import PageAddress


@pytest.fixture(scope="module")
def address() -> Iterator[PageAddress]:
    address = PageAddress("127.0.0.1", 0)
    yield address
    address.socket.close()


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
def test_a_request_to_a_name_of_the_server_is_accepted(address, host, origin):
    assert address.refusal(headers(host, origin)) == ""


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
def test_a_request_of_another_site_is_rejected(address, host, origin):
    assert address.refusal(headers(host, origin)) != ""


def test_a_request_with_two_hosts_is_rejected(address):
    both = Headers(raw=[(b"host", b"localhost"), (b"host", b"evil.example")])
    assert "evil.example" in address.refusal(both)


def test_the_configured_host_name_is_a_name_of_the_server():
    named = PageAddress("localhost", 0)
    assert named.refusal(headers("localhost:1")) == ""
    assert named.url == f"http://localhost:{named.port}/"
    named.socket.close()


def test_host_names_of_the_network_are_rejected_on_loopback(address):
    name = socket.gethostname().lower()
    open_to_all = PageAddress("0.0.0.0", 0)
    for own in (name, f"{name.partition('.')[0]}.local"):
        assert "not a name" in address.refusal(headers(own))
        assert open_to_all.refusal(headers(own)) == ""
    open_to_all.socket.close()
