"""Calls in a copy of this process, with limits."""

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from mujoco_ros.process.limited_call import limited_call
from mujoco_ros.process.worker_limits import WorkerDiedError, WorkerLimitError, WorkerLimits

LIMITS = WorkerLimits(processor_s=1.0, wall_s=600.0, memory_bytes=1 << 28)
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


def test_processor_time_is_limited_also_inside_one_operation():
    with pytest.raises(WorkerLimitError, match="1 s of processor time"):
        limited_call(compute, LIMITS)


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
        limited_call(lambda: bytes(1 << 29), LIMITS)
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


def test_no_process_and_no_descriptor_remain():
    before = len(os.listdir("/proc/self/fd"))
    for call in (compute, lambda: b"", lambda: bytes(1 << 29)):
        with suppress(WorkerLimitError):
            limited_call(call, LIMITS)
    assert len(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
