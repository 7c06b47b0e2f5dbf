"""Memory returned during a long run, and shared memory of Fast DDS."""

import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mujoco_ros.process.memory import (
    SHARED_MEMORY,
    remove_unfinished_ports,
    restrict_shared_memory,
)

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import ctypes
import gc
import os
from mujoco_ros.process.limits import used_memory
from mujoco_ros.process.memory import MemoryTrimmer

class Ring:
    def __init__(self):
        self.me = self

memory = MemoryTrimmer()
assert not gc.isenabled()
Ring()
memory.trim()
assert not [x for x in gc.get_objects() if isinstance(x, Ring)], "reference cycles stay"

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]
library.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
before = used_memory(os.getpid())
pieces = [library.malloc(4000) for _ in range(20_000)]
for piece in pieces:
    library.memset(piece, 1, 4000)
kept = pieces[::100]
full = used_memory(os.getpid())
assert full > before + 60e6
for piece in set(pieces) - set(kept):
    library.free(piece)
del pieces
assert used_memory(os.getpid()) > full - 30e6, "the C library returns it by itself"
memory.trim()
assert used_memory(os.getpid()) < before + 15e6
"""


def test_free_memory_is_returned_even_between_fragments_in_use() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def write(path: Path, content: bytes, age_s: float) -> None:
    path.write_bytes(content)
    then = time.time() - age_s
    os.utime(path, (then, then))


@pytest.mark.parametrize("name", ["fastrtps_port7661", "fastdds_port7661"])
@pytest.mark.parametrize("content", [b"", bytes(64), struct.pack("=I", 1) + bytes(60)])
def test_an_unfinished_port_is_removed(tmp_path: Path, caplog, name: str, content: bytes):
    write(tmp_path / name, content, age_s=10.0)
    assert remove_unfinished_ports(tmp_path) == [name]
    assert list(tmp_path.iterdir()) == []
    assert name in caplog.text


@pytest.mark.parametrize(
    ("name", "content", "age_s"),
    [
        ("fastrtps_port7661", struct.pack("=I", 2) + bytes(60), 10.0),
        ("fastrtps_port7661", b"", 0.0),
        ("fastrtps_port7661_el", b"", 10.0),
        ("sem.fastrtps_port7661_mutex", b"", 10.0),
        ("my_port7661", b"", 10.0),
    ],
    ids=["a port in use", "a port in creation", "a lock", "a semaphore", "another program's"],
)
def test_other_files_remain(tmp_path: Path, caplog, name: str, content: bytes, age_s: float):
    write(tmp_path / name, content, age_s)
    assert remove_unfinished_ports(tmp_path) == []
    assert (tmp_path / name).exists()
    assert not caplog.text


def test_without_shared_memory_nothing_is_removed(tmp_path: Path):
    assert remove_unfinished_ports(tmp_path / "missing") == []


@pytest.mark.skipif(not SHARED_MEMORY.is_dir(), reason=f"no {SHARED_MEMORY}")
def test_a_simulator_starts_in_a_domain_with_an_unfinished_port(tmp_path: Path):
    simulators = pytest.importorskip("simulators", reason="ROS 2 is not installed here")
    domain = simulators.Domain()
    # The port of the first participant of a domain: DDSI-RTPS 2.5, 9.6.2.3.
    number = 7400 + 250 * domain.id + 11
    for kind in ("fastrtps", "fastdds"):
        write(SHARED_MEMORY / f"{kind}_port{number}", b"", age_s=10.0)
    parameters = {"scene": "arm", "cameras": "false"}
    simulator = simulators.Simulator(tmp_path / "log", parameters, domain.id)
    try:
        simulator.wait_for_log("simulating 'arm'")
        simulator.wait_for_log("removed shared memory that a killed process left unfinished")
        assert simulator.stop() == 0
    finally:
        if simulator.process.poll() is None:
            simulator.process.kill()
        domain.close()


def test_shared_memory_of_a_node_is_private_to_its_user(ros_node):
    assert ros_node.get_name() == "test_node"
    paths = restrict_shared_memory()
    assert paths
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}


RELEASE = """
import numpy as np
from mujoco_ros.process.memory import release_file_pages

def resident():
    sizes, program = {}, ""
    for line in open("/proc/self/smaps"):
        first, *rest = line.split()
        if not first.endswith(":"):
            program = rest[-1].rpartition("/")[2].partition(".")[0].partition("64")[0]
        elif first == "Rss:":
            sizes[program] = sizes.get(program, 0) + int(rest[0])
    return next(size for name, size in sizes.items() if "openblas" in name)

matrix = np.eye(200)
before = np.linalg.inv(matrix), resident()
release_file_pages()
assert resident() < before[1] / 2, (before[1], resident())
assert (np.linalg.inv(matrix) == before[0]).all()
"""


def test_unchanged_pages_of_libraries_are_unmapped_and_mapped_again_on_access() -> None:
    subprocess.run([sys.executable, "-c", RELEASE], check=True, cwd=ROOT)
