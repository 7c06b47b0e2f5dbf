"""Listening sockets, and whether browsers reach them."""

import re
import shutil
import socket
import subprocess
import sys

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.page.listening import listen, obstacle, own_name
from mujoco_ros.viewer.page.page_address import PageAddress

_DOWN = """
import sys
from mujoco_ros.viewer.page.listening import listen, obstacle, own_name
for host in ("127.0.0.1", "localhost", "127.0.0.2", "0.0.0.0"):
    with listen(host, 0) as listening:
        print(own_name(listening), obstacle(listening), sep=": ")
"""
"""A program for a network without a running interface."""


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_a_server_listens_on_the_configured_interface_only():
    with listen("127.0.0.1", 0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        port = listening.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5.0):
            pass
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", port), timeout=5.0)


def test_the_next_port_is_used_if_one_is_taken():
    first = PageAddress("127.0.0.1", 0)
    second = PageAddress("127.0.0.1", first.port)
    assert first.port < second.port < first.port + 20
    assert first.text == first.url
    assert second.text == f"{second.url} (port {first.port} is taken)"
    first.socket.close()
    second.socket.close()


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.7", "a" * 300])
def test_an_unknown_interface_is_named_in_the_error(host):
    with pytest.raises(UserInputError, match=host[:100]):
        listen(host, 0)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("127.0.0.1", "localhost"),
        ("localhost", "localhost"),
        ("0.0.0.0", "localhost"),
        ("127.0.0.2", "127.0.0.2"),  # where localhost does not lead
    ],
)
def test_a_url_has_a_name_that_leads_to_the_server(host, name):
    with listen(host, 0) as listening:
        assert own_name(listening) == name
        assert obstacle(listening) == ""


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_a_url_of_an_ipv6_server_leads_to_it_also_if_another_has_its_port_at_localhost():
    with listen("127.0.0.1", 0) as first, listen("::1", first.getsockname()[1]) as second:
        names = {own_name(first), own_name(second)}
        assert names in ({"localhost", "[::1]"}, {"127.0.0.1", "localhost"})


def test_a_page_that_no_browser_can_reach_has_a_reason():
    separate = [shutil.which("unshare") or "unshare", "--map-root-user", "--net"]
    if subprocess.run([*separate, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user cannot create a network namespace")
    done = subprocess.run(
        [*separate, sys.executable, "-c", _DOWN], capture_output=True, text=True, check=True
    )
    names = [line.partition(": ")[0] for line in done.stdout.splitlines()]
    assert names == ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.1"]
    assert len(re.findall("the loopback interface is down", done.stdout)) == len(names)
