"""Programs that were requested to end: they end, whatever hangs in them."""

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120.0
LIMIT_S = 1.0
START = f"""
import ctypes, os, signal, sys, threading, time
from mujoco_ros.process.end_limit import handle_signals, limit_end, limit_exit, withdraw_request

signals = []
limit_end({LIMIT_S})
limit_end(60.0)  # no second limit
handle_signals(signals.append, signal.SIGHUP)

def hang_in_the_middleware():
    while True:
        ctypes.PyDLL(None).sleep(600)  # with the GIL, as rclpy waits

def ready():
    os.write(1, b"ready\\n")
"""
HANGING = {
    "a call that holds the interpreter's lock": "ready(); hang_in_the_middleware()",
    "another thread that holds the lock": """
        threading.Timer(0.5, hang_in_the_middleware).start()
        threading.Timer(0.4, ready).start()
        while not signals: time.sleep(0.01)
    """,
    "a main thread that misses the signal": "ready()\nwhile True: time.sleep(600)",
    "an exit that does not end": """
        import atexit
        atexit.register(hang_in_the_middleware)
        limit_exit()
        ready()
    """,
}

Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start programs, which are killed after the test."""
    programs: list[subprocess.Popen[bytes]] = []

    def start(code: str) -> "subprocess.Popen[bytes]":
        program = subprocess.Popen(
            [sys.executable, "-c", START + textwrap.dedent(code)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        programs.append(program)
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        return program

    yield start
    for program in programs:
        program.kill()
        program.communicate()


def test_a_program_ends_whatever_hangs(start):
    programs = {name: start(code) for name, code in HANGING.items()}
    for number, program in zip(
        (signal.SIGINT, signal.SIGTERM, signal.SIGHUP), programs.values(), strict=False
    ):
        os.killpg(program.pid, number)  # as Ctrl-C does
        os.killpg(program.pid, number)
    for name, program in programs.items():
        _, stderr = program.communicate(timeout=TIMEOUT_S)
        assert program.returncode == -signal.SIGKILL, name
        assert b"this program still runs" in stderr
        assert stderr.count(b"\n") == 1, "one line"


def test_the_place_that_hangs_is_reported(start):
    program = start(HANGING["a call that holds the interpreter's lock"])
    program.send_signal(signal.SIGTERM)
    _, stderr = program.communicate(timeout=TIMEOUT_S)
    assert b"1 s after it received SIGTERM, this program still runs" in stderr
    assert b"in hang_in_the_middleware" in stderr


def test_a_program_that_ends_by_itself_has_its_own_exit_code(start):
    program = start("ready()\nwhile not signals: time.sleep(0.01)\nlimit_exit()\nsys.exit(3)")
    program.send_signal(signal.SIGINT)
    assert program.communicate(timeout=TIMEOUT_S) == (b"", b"")
    assert program.returncode == 3


def test_requests_for_a_part_of_the_work_and_signals_of_forked_processes_have_no_limit(start):
    after = f"time.sleep({LIMIT_S + 1.0}); sys.exit(3)"
    withdrawn = start(f"ready()\nwhile not signals: time.sleep(0.01)\nwithdraw_request()\n{after}")
    forked = start(
        f"""
        child = os.fork()
        if not child:
            while True: time.sleep(600)
        ready()
        time.sleep(0.2)
        os.kill(child, signal.SIGTERM)
        {after}
        """
    )
    withdrawn.send_signal(signal.SIGINT)
    for program in (withdrawn, forked):
        assert program.wait(TIMEOUT_S) == 3
    os.killpg(forked.pid, signal.SIGKILL)


def test_a_program_that_has_ended_is_not_waited_for() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    module = ROOT / "mujoco_ros" / "process" / "end_limit.py"
    watch = subprocess.run(
        [sys.executable, module, str(ended.pid), "60"],
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert (watch.returncode, watch.stderr) == (0, b"")
