"""A companion process, by a clock that the tests turn."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from mujoco_ros.process import managed_process as companion
from mujoco_ros.process.managed_process import DELAYS_S, SOON_S, START_S, ManagedProcess
from mujoco_ros.sim.shared_memory.header import SharedHeader

SEAT = 1
LONG = "exec sleep 60"


class Watched:
    """A companion, and the time."""

    def __init__(self, program: str) -> None:
        self.now = 1000.0
        self.head = SharedHeader.create()
        self.said: list[bytes] = []
        self.companion = ManagedProcess(
            "helper",
            ["/bin/sh", "-c", program],
            self.head,
            SEAT,
            environment={},
            say=self.said.append,
        )
        self.companion.start(self.now)

    def look(self, after_s: float = 0.0) -> None:
        self.now += after_s
        self.companion.look(self.now)

    def look_until(self, condition: Callable[[], bool]) -> None:
        """Look again and again, while no time goes by."""
        deadline = time.monotonic() + 20.0
        while not condition():
            assert time.monotonic() < deadline
            self.look()
            time.sleep(0.005)

    def end(self) -> None:
        self.companion.ask_to_end()
        self.companion.end(5.0)
        self.head.end()


@pytest.fixture
def watch() -> Iterator[Callable[[str], Watched]]:
    watched: list[Watched] = []

    def begin(program: str) -> Watched:
        watched.append(Watched(program))
        return watched[-1]

    yield begin
    for one in watched:
        one.end()


def test_who_is_killed_is_started_anew_at_once(watch, caplog):
    watched = watch(LONG)
    os.kill(watched.companion.pid, signal.SIGKILL)
    watched.look_until(lambda: watched.companion.starts == 2)
    assert watched.companion.pid
    assert watched.companion.trouble == ""
    assert "companion 'helper': it was ended by SIGKILL; it is started anew at once" in caplog.text


def test_who_fails_again_and_again_is_started_later_and_later(watch, caplog):
    watched = watch("echo no such camera >&2; echo >&2; exit 1")
    for delay in (*DELAYS_S[1:], DELAYS_S[-1]):
        watched.look_until(lambda: watched.companion.pid is None)
        starts = watched.companion.starts
        assert "it ended with exit code 1: no such camera" in watched.companion.trouble
        if delay:
            assert f"it is started anew in {delay:g} s" in watched.companion.trouble
            watched.look(delay - 0.01)
            assert watched.companion.starts == starts
            watched.look(0.02)
        else:
            watched.look()
        assert watched.companion.starts == starts + 1
    assert b"".join(watched.said).startswith(b"no such camera\n\n")


def test_who_worked_for_a_while_before_is_started_anew_at_once(watch):
    watched = watch("exit 1")
    for _ in range(6):
        watched.look_until(lambda: watched.companion.pid is None)
        watched.look(40.0)
    watched.companion._command[-1] = LONG
    watched.look_until(lambda: watched.companion.pid is None)
    watched.look(40.0)
    watched.look(2 * SOON_S)
    pid, starts = watched.companion.pid, watched.companion.starts
    os.kill(pid, signal.SIGKILL)
    watched.look_until(lambda: watched.companion.starts == starts + 1)


@pytest.mark.parametrize(
    ("end", "trouble"),
    [("exit 0", ""), ("echo no display >&2; exit 3", "no display")],
)
def test_who_ends_on_purpose_or_cannot_run_here_is_not_started_again(watch, end, trouble):
    watched = watch(end)
    watched.look_until(lambda: watched.companion.pid is None)
    for _ in range(100):
        watched.look(0.5)
    assert (watched.companion.starts, watched.companion.trouble) == (1, trouble)


@pytest.mark.parametrize("stop", [True, False])
def test_who_is_not_heard_of_in_time_is_killed_and_started_anew(watch, stop, caplog):
    watched = watch(LONG)
    if stop:
        os.kill(watched.companion.pid, signal.SIGSTOP)
    watched.head.promise(SEAT, watched.now + 1.5)
    for _ in range(14):
        watched.look(0.1)
    assert watched.companion.starts == 1
    watched.look(0.2)
    watched.look_until(lambda: watched.companion.starts == 2)
    assert "companion 'helper': it hung; it is started anew at once" in caplog.text
    watched.look(1.0)  # nobody expects of a new process what the old one promised
    assert watched.companion.starts == 2


def test_time_for_which_others_had_the_processor_does_not_count(watch, monkeypatch):
    waited_s = [70.0]
    monkeypatch.setattr(companion, "waited_for_processor", lambda _pid: waited_s[0])
    watched = watch(LONG)
    watched.head.promise(SEAT, watched.now + 1.5)
    for _ in range(40):
        watched.look(0.1)
        waited_s[0] += 0.09
    assert watched.companion.starts == 1
    for _ in range(20):  # now it has the processor, and is not heard of all the same
        watched.look(0.1)
    watched.look_until(lambda: watched.companion.starts == 2)


def test_what_the_system_tells_of_waiting_is_read_or_nothing():
    assert companion.waited_for_processor(os.getpid()) >= 0.0
    assert companion.waited_for_processor(2**30) == 0.0


def test_who_is_never_heard_of_has_two_minutes_to_start(watch):
    watched = watch(LONG)
    while watched.now < 1000.0 + START_S - 0.5:
        watched.look(0.3)
    assert watched.companion.starts == 1
    watched.look(0.3)
    watched.look(0.3)
    watched.look_until(lambda: watched.companion.starts == 2)


def test_who_was_suspended_together_with_the_simulator_has_time_to_wake(watch):
    watched = watch(LONG)
    watched.head.promise(SEAT, watched.now + 1.5)
    watched.look(500.0)
    for _ in range(4):
        watched.look(0.3)
    assert watched.companion.starts == 1
    assert not watched.companion.trouble


def test_an_interrupt_of_the_terminal_does_not_reach_it(watch):
    watched = watch(LONG)
    os.kill(watched.companion.pid, signal.SIGINT)
    for _ in range(20):
        watched.look(0.05)
        time.sleep(0.005)
    assert watched.companion.starts == 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_who_cannot_be_started_at_all_is_told(watch):
    head = SharedHeader.create()
    helper = ManagedProcess("helper", ["/no/such"], head, SEAT, environment={}, say=lambda _said: 0)
    helper.start(0.0)
    assert helper.trouble.startswith("it cannot be started: No such file or directory")
    head.end()


def test_who_does_not_end_when_asked_to_is_killed(watch):
    watched = watch(f"trap '' TERM; echo ready >&2; {LONG}")
    watched.look_until(lambda: bool(watched.said))
    pid = watched.companion.pid
    watched.companion.ask_to_end()
    watched.companion.end(0.1)
    assert watched.companion.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
