"""Calls in a copy of this process, with limits."""

import os
import select
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from mujoco_ros.process.limits import WorkerDiedError, WorkerLimitError, WorkerLimits, limited_call

LIMITS = WorkerLimits(processor_s=1.0, wall_s=600.0, memory_bytes=1 << 28)
HUGE = 1 << 32
"""More bytes than other tests have freed in this process, which a copy may use."""
CHANGED: list[int] = []


def compute() -> bytes:
    while True:
        9**9**6


def test_the_result_is_returned_and_nothing_else_changes():
    def call() -> bytes:
        CHANGED.append(1)
        return f"{os.getpid()}".encode() + b"1" * 3_000_000

    result = limited_call(call, LIMITS)
    assert len(result) > 3_000_000
    assert not result.startswith(f"{os.getpid()}".encode())
    assert not CHANGED


def test_time_for_which_the_processor_is_not_used_does_not_count():
    def call() -> bytes:
        time.sleep(1.2)
        return b"slept"

    assert limited_call(call, LIMITS) == b"slept"


def test_a_call_that_waits_for_ever_ends():
    limits = WorkerLimits(processor_s=1.0, wall_s=0.2, memory_bytes=1 << 28)
    with pytest.raises(WorkerLimitError, match=r"0\.2 s"):
        limited_call(lambda: bytes(signal.pause() or 0), limits)


def test_memory_is_limited():
    with pytest.raises(WorkerLimitError, match=r"0\.2 GiB of memory"):
        limited_call(lambda: bytes(HUGE), LIMITS)
    assert len(limited_call(lambda: bytes(1 << 26), LIMITS)) == 1 << 26


def test_a_crash_is_an_error_with_its_signal():
    def crash() -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b""

    with pytest.raises(WorkerDiedError, match="SIGKILL"):
        limited_call(crash, LIMITS)


def test_it_writes_no_file(tmp_path: Path):
    def write() -> bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        try:
            (tmp_path / "file").write_text("content")
        except OSError as error:
            return str(error.errno).encode()
        return b"written"

    assert limited_call(write, LIMITS) != b"written"


@pytest.mark.skipif(os.getuid() == 0, reason="the limit does not hold for root")
def test_it_starts_no_program():
    def start() -> bytes:
        try:
            return subprocess.run(["id"], capture_output=True, check=True).stdout
        except OSError:
            return b"refused"

    assert limited_call(start, LIMITS) == b"refused"


def test_an_interrupt_while_the_result_is_read_ends_the_call(monkeypatch):
    def interrupted(connection: Connection) -> bytes:
        os.read(connection.fileno(), 1)
        raise KeyboardInterrupt

    monkeypatch.setattr(Connection, "recv_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):  # the copy waits for a reader meanwhile
        limited_call(lambda: bytes(1 << 24), LIMITS)


def test_a_copy_ends_with_its_program():
    program = (
        "import os, signal\n"
        "from mujoco_ros.process.limits import limited_call\n"
        "from mujoco_ros.process.limits import WorkerLimits\n"
        "limits = WorkerLimits(processor_s=600.0, wall_s=600.0, memory_bytes=1 << 28)\n"
        "def call():\n"
        "    print(os.getpid(), flush=True)\n"
        "    signal.pause()\n"
        "limited_call(call, limits)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    copy = os.pidfd_open(int(process.stdout.readline()))
    process.kill()
    process.communicate()
    assert select.select([copy], [], [], 100.0)[0]
    os.close(copy)


def test_calls_of_several_threads_do_not_wait_for_each_other():
    ours, theirs = socket.socketpair()

    def meet(end: socket.socket) -> bytes:
        end.send(b"1")
        return end.recv(1)

    with ThreadPoolExecutor(2) as threads, ours, theirs:
        calls = [threads.submit(limited_call, partial(meet, it), LIMITS) for it in (ours, theirs)]
        assert [it.result() for it in calls] == [b"1", b"1"]


def children() -> set[str]:
    """Return the process ids of the children of this thread, whose exit codes are uncollected."""
    return set(Path("/proc/thread-self/children").read_text().split())


def test_no_process_and_no_descriptor_remain_of_a_call_whose_limits_also_end_one_operation():
    before = (len(os.listdir("/proc/self/fd")), children())
    assert limited_call(lambda: b"", LIMITS) == b""
    with pytest.raises(WorkerLimitError, match="1 s of processor time"):
        limited_call(compute, LIMITS)
    with pytest.raises(WorkerLimitError, match="of memory"):
        limited_call(lambda: bytes(HUGE), LIMITS)
    assert (len(os.listdir("/proc/self/fd")), children()) == before
