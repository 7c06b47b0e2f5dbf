import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from mmap import mmap

import pytest

from benchmark.domains import Domain, remove_unused_memory, used_domains

PATIENCE_S = 120.0
PARTICIPANT = """
import sys, rclpy
contexts = [rclpy.Context() for _ in range(2)]
for context in contexts:
    rclpy.init(context=context)
nodes = [rclpy.create_node("foreign", context=context) for context in contexts]
for node, context in list(zip(nodes, contexts)):
    sys.stdin.readline()
    node.destroy_node()
    rclpy.shutdown(context=context)
"""


@pytest.fixture
def free() -> Iterator[int]:
    """A free domain that no other process of the tests has reserved."""
    domain = Domain()
    yield domain.id
    domain.close()


def bound(domain: int, participant: int) -> socket.socket:
    """Bind the port of a participant's discovery (DDSI-RTPS 2.5, 9.6.2.3)."""
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.bind(("127.0.0.1", 7400 + 250 * domain + 10 + 2 * participant))
    return found


def is_used(domain: int, expected: bool) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while (domain in used_domains()) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    return domain in used_domains()


@pytest.mark.parametrize("participant", [0, 1, 50])
def test_a_domain_with_a_foreign_participant_is_skipped(participant):
    domain = Domain()
    domain.close()
    with bound(domain.id, participant), closing(Domain(first=domain.id)) as other:
        assert other.id != domain.id


@pytest.mark.parametrize("participant", [0, 1, 50])
def test_a_domain_is_used_while_a_participant_is_in_it(free, participant):
    assert free not in used_domains()
    with bound(free, participant):
        assert free in used_domains()
    assert free not in used_domains()


def test_a_domain_is_used_until_its_last_participant_ends(free):
    environment = os.environ | {"ROS_DOMAIN_ID": str(free)}
    process = subprocess.Popen(
        [sys.executable, "-c", PARTICIPANT], stdin=subprocess.PIPE, env=environment, text=True
    )
    assert process.stdin is not None
    try:
        assert is_used(free, True)
        process.stdin.write("\n")  # the participant with the lower ports ends
        process.stdin.flush()
        time.sleep(0.5)
        assert free in used_domains()
    finally:
        process.communicate("\n\n", PATIENCE_S)
    assert not is_used(free, False)


def test_a_reserved_domain_is_not_reserved_again(free):
    with closing(Domain(first=free)) as other:
        assert other.id != free


def test_a_closed_domain_can_be_reserved_again():
    domain = Domain()
    domain.close()
    with closing(Domain(first=domain.id)) as again:
        assert again.id in range(1, 102)


def test_a_lock_file_of_another_user_is_skipped(free, monkeypatch):
    opened = os.open

    def refuse(path, *arguments, **options):
        if str(path).endswith(f"ros_domain_{free}.lock"):
            raise PermissionError(path)
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    with closing(Domain(first=free)) as other:
        assert other.id != free


def test_shared_memory_is_removed_unless_a_process_has_it_or_it_is_new(tmp_path, monkeypatch):
    names = [f"{kind}_port{it}" for kind in ("fastrtps", "fastdds") for it in (1, 2, 3)]
    for name in names:
        for file in (name, f"{name}_el", f"sem.{name}_mutex"):
            (tmp_path / file).write_bytes(bytes(8))
            if "port3" not in name:
                os.utime(tmp_path / file, (0, 0))
    (tmp_path / "other").touch()
    monkeypatch.setattr("benchmark.domains.SHARED_MEMORY", tmp_path)
    with (tmp_path / names[0]).open("r+b") as file, mmap(file.fileno(), 8):
        remove_unused_memory.__wrapped__()
    kept = {name for name in names if (tmp_path / name).exists()}
    assert kept == {"fastrtps_port1", "fastrtps_port3", "fastdds_port3"}
    assert len(list(tmp_path.iterdir())) == 3 * len(kept) + 1


def test_without_a_free_domain_the_error_names_the_problem(monkeypatch):
    monkeypatch.setattr("benchmark.domains.used_domains", lambda: set(range(102)))
    with pytest.raises(RuntimeError, match="every ROS domain is in use"):
        Domain()
