"""A managed process with a clock set by the tests."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from mujoco_ros.process import child_process, managed_process
from mujoco_ros.process.managed_process import (
    BUSY_S,
    DELAYS_S,
    EARLY_S,
    START_S,
    ManagedProcess,
)

LONG = "exec sleep 60"


def starting(*command: str) -> Callable[[], "subprocess.Popen[bytes]"]:
    """Return a function that starts a command."""
    return partial(child_process.start, command, stderr=subprocess.PIPE)


class Supervised:
    """A managed process, and the time."""

    def __init__(self, program: str) -> None:
        self.now = 1000.0
        self.deadline = memoryview(bytearray(8)).cast("d")
        self.output: list[bytes] = []
        self.process = ManagedProcess(
            "helper", starting("/bin/sh", "-c", program), self.deadline, forward=self.output.append
        )
        self.process.start(self.now)

    def check(self, after_s: float = 0.0) -> None:
        self.now += after_s
        self.process.check(self.now)

    def check_until(self, condition: Callable[[], bool]) -> None:
        """Check again and again at the same time."""
        deadline = time.monotonic() + 20.0
        while not condition():
            assert time.monotonic() < deadline
            self.check()
            time.sleep(0.005)

    def end(self) -> None:
        self.process.terminate()
        self.process.end(5.0)


@pytest.fixture
def start() -> Iterator[Callable[[str], Supervised]]:
    started: list[Supervised] = []

    def begin(program: str) -> Supervised:
        started.append(Supervised(program))
        return started[-1]

    yield begin
    for one in started:
        one.end()


def test_a_process_that_is_killed_is_restarted_at_once(start, caplog):
    supervised = start(LONG)
    os.kill(supervised.process.pid, signal.SIGKILL)
    supervised.check_until(lambda: supervised.process.starts == 2)
    assert supervised.process.pid
    assert supervised.process.trouble == ""
    assert "child process 'helper': SIGKILL; restart now" in caplog.text


def test_a_process_that_fails_repeatedly_is_restarted_later_and_later(start):
    supervised = start("echo no such camera >&2; echo >&2; exit 1")
    for delay in (*DELAYS_S[1:], DELAYS_S[-1]):
        supervised.check_until(lambda: supervised.process.pid is None)
        starts = supervised.process.starts
        assert "exit code 1: no such camera" in supervised.process.trouble
        if delay:
            assert f"restart in {delay:g} s" in supervised.process.trouble
            supervised.check(delay - 0.01)
            assert supervised.process.starts == starts
            supervised.check(0.02)
        else:
            supervised.check()
        assert supervised.process.starts == starts + 1
    assert b"".join(supervised.output).startswith(b"no such camera\n\n")


def test_a_process_that_ran_for_a_while_is_restarted_at_once(start):
    supervised = start("exit 1")
    for _ in range(6):
        supervised.check_until(lambda: supervised.process.pid is None)
        supervised.check(40.0)
    supervised.process.begin = starting("/bin/sh", "-c", LONG)
    supervised.check_until(lambda: supervised.process.pid is None)
    supervised.check(40.0)
    supervised.check(2 * EARLY_S)
    pid, starts = supervised.process.pid, supervised.process.starts
    os.kill(pid, signal.SIGKILL)
    supervised.check_until(lambda: supervised.process.starts == starts + 1)


@pytest.mark.parametrize(
    ("end", "trouble"),
    [("exit 0", ""), ("echo no display >&2; exit 3", "no display")],
)
def test_a_process_that_ends_as_intended_or_cannot_run_here_is_not_restarted(start, end, trouble):
    supervised = start(end)
    supervised.check_until(lambda: supervised.process.pid is None)
    for _ in range(100):
        supervised.check(0.5)
    assert (supervised.process.starts, supervised.process.trouble) == (1, trouble)


@pytest.mark.parametrize("stop", [True, False])
def test_a_process_that_misses_its_heartbeat_is_killed_and_restarted(start, stop, caplog):
    supervised = start(LONG)
    if stop:
        os.kill(supervised.process.pid, signal.SIGSTOP)
    supervised.deadline[0] = supervised.now + 1.5
    for _ in range(19):
        supervised.check(0.1)
    assert supervised.process.starts == 1
    supervised.check(0.2)
    supervised.check_until(lambda: supervised.process.starts == 2)
    assert "child process 'helper': missed its heartbeat; restart now" in caplog.text
    supervised.check(1.0)  # the deadline of the old process does not apply to the new one
    assert supervised.process.starts == 2


@pytest.mark.parametrize("kind", ["computes", "waits for a processor"])
def test_time_in_which_a_process_computes_or_waits_for_a_processor_extends_its_deadline(
    start, monkeypatch, kind
):
    times = [70.0, 70.0]
    monkeypatch.setattr(managed_process, "processor_times", lambda _pid: tuple(times))
    supervised = start(LONG)
    supervised.deadline[0] = supervised.now + 1.5
    for _ in range(40):
        supervised.check(0.1)
        times[kind != "computes"] += 0.09
    assert supervised.process.starts == 1
    for _ in range(20):  # now it does neither
        supervised.check(0.1)
    supervised.check_until(lambda: supervised.process.starts == 2)


def test_an_endless_loop_is_ended(start, monkeypatch):
    used = [0.0]
    monkeypatch.setattr(managed_process, "processor_times", lambda _pid: (used[0], 0.0))
    supervised = start(LONG)
    supervised.deadline[0] = supervised.now + 1.5
    while supervised.now < 1000.0 + BUSY_S:
        supervised.check(0.3)
        used[0] += 0.3
    assert supervised.process.starts == 1
    for _ in range(10):
        supervised.check(0.3)
        used[0] += 0.3
    supervised.check_until(lambda: supervised.process.starts == 2)


def test_processor_times_are_those_of_the_kernel_or_zero():
    before = managed_process.processor_times(os.getpid())
    while time.process_time() < before[0] + 0.1:
        pass
    assert managed_process.processor_times(os.getpid())[0] > before[0]
    assert managed_process.processor_times(2**30) == (0.0, 0.0)


def test_a_process_has_two_minutes_for_its_first_heartbeat(start):
    supervised = start(LONG)
    while supervised.now < 1000.0 + START_S - 0.5:
        supervised.check(0.3)
    assert supervised.process.starts == 1
    for _ in range(4):
        supervised.check(0.3)
    supervised.check_until(lambda: supervised.process.starts == 2)


def test_a_process_that_was_suspended_with_the_simulator_has_time_to_resume(start):
    supervised = start(LONG)
    supervised.deadline[0] = supervised.now + 1.5
    supervised.check(500.0)
    for _ in range(4):
        supervised.check(0.3)
    assert supervised.process.starts == 1
    assert not supervised.process.trouble


def test_ctrl_c_in_the_terminal_does_not_reach_it(start):
    supervised = start(LONG)
    os.kill(supervised.process.pid, signal.SIGINT)
    for _ in range(20):
        supervised.check(0.05)
        time.sleep(0.005)
    assert supervised.process.starts == 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_a_process_that_cannot_be_started_is_reported():
    deadline = memoryview(bytearray(8)).cast("d")
    helper = ManagedProcess("helper", starting("/no/such"), deadline, forward=lambda _output: 0)
    helper.start(0.0)
    assert helper.trouble.startswith("cannot be started: No such file or directory")


def test_a_process_that_does_not_end_on_request_is_killed(start):
    supervised = start(f"trap '' TERM; echo ready >&2; {LONG}")
    supervised.check_until(lambda: bool(supervised.output))
    pid = supervised.process.pid
    supervised.process.terminate()
    supervised.process.end(0.1)
    assert supervised.process.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
