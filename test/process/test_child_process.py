"""Start and end of child processes, and the program that they run."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from mujoco_ros.process import child_process
from mujoco_ros.process.child_process import (
    CANNOT_RUN_HERE,
    end,
    exit_reason,
    fork,
    python_command,
    start,
)
from mujoco_ros.process.managed_process import ManagedProcess

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 120.0
MODULE = """
import os, signal, sys, time
from pathlib import Path

def main(arguments):
    if arguments[0] == "--connection":
        os.write(int(arguments[1]), b"connected")
        arguments = arguments[2:]
    if arguments[0] == "wait":
        Path(arguments[1]).touch()
        time.sleep(600)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    import mujoco_ros
    print(arguments, os.nice(0), os.sched_getscheduler(0), signal.SIGINT in blocked,
          os.environ["OMP_NUM_THREADS"], os.getcwd() in sys.path, file=sys.stderr)
    return 7
"""
PARENT = """
import sys, time
from mujoco_ros.process.child_process import python_command, start
print(start(python_command("child_module", "wait", sys.argv[1])).pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "child_module.py").write_text(MODULE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.usefixtures("module")
def test_a_child_runs_main_of_a_module_with_low_priority_and_without_ctrl_c(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    expected = f"['a', 'b'] {os.nice(0) + 5} {os.SCHED_OTHER} True {{}} False\n"
    assert _output(python_command("child_module", "a", "b")) == expected.format(3)
    assert _output(python_command("child_module", "a", "b"), OMP_NUM_THREADS="2") == (
        expected.format(2)
    )


FORKING = """
import os
from mujoco_ros.process import fork_server
from mujoco_ros.process.child_process import fork

with fork_server.serving():
    os.environ["OMP_NUM_THREADS"] = "4"
    ours, theirs = os.pipe()
    child = fork("child_module", "a", "b", connection=theirs)
    print(child.wait(100), child.stderr.read().decode(), end="")
    hanging = fork("child_module", "wait", "{mark}", connection=theirs)
    while not os.path.exists("{mark}"):
        pass
    print(open(f"/proc/{hanging.pid}/comm").read(), end="")
    supervisor = open(f"/proc/{hanging.pid}/stat").read().split()[3]
    print(fork_server.server().pid == int(open(f"/proc/{supervisor}/stat").read().split()[3]))
    hanging.terminate()
    print(hanging.wait(100), os.read(ours, 100) == 2 * b"connected")
"""


@pytest.mark.usefixtures("module")
def test_a_fork_runs_as_a_child_with_the_arguments_and_the_present_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    monkeypatch.setenv("PYTHONPATH", path)
    program = FORKING.replace("{mark}", str(tmp_path / "mark"))
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    ended, name, is_of_server, code = output.splitlines()
    expected = f"7 ['a', 'b'] {os.nice(0) + 5} {os.SCHED_OTHER} True 4 "
    assert ended.startswith(expected)
    assert (name, is_of_server, code) == ("child_module", "True", f"{-signal.SIGTERM} True")


def test_the_mask_of_the_parent_stays_the_same():
    end(start(["/bin/true"]), TIMEOUT_S)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_child_that_hangs_ends_with_its_parent(tmp_path: Path, number: signal.Signals):
    mark = tmp_path / "mark"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-c", PARENT, str(mark)]
    parent = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    until(mark.exists)
    os.kill(child, signal.SIGSTOP)
    parent.send_signal(number)
    parent.wait(TIMEOUT_S)
    parent.stdout.close()
    until(lambda: not Path(f"/proc/{child}").exists() or _is_zombie(child))


@pytest.mark.usefixtures("module")
def test_a_child_whose_parent_has_ended_already_does_not_start():
    command = python_command("child_module", "a")
    command[command.index(str(os.getpid()))] = str(2**22 + 1)
    assert start(command).wait(TIMEOUT_S) == 0


def test_a_process_that_ignores_the_request_to_end_is_killed_after_the_timeout():
    process = start(["/bin/sh", "-c", "exec sleep 600"])
    assert end(process, 0.05) == -signal.SIGKILL
    assert end(process) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("code", "reason"),
    [(3, "exit code 3"), (-9, "SIGKILL"), (-63, "signal 63"), (None, "hangs in the kernel")],
)
def test_an_exit_code_is_described_by_the_name_of_the_signal(code: int | None, reason: str):
    assert exit_reason(code) == reason


def _output(command: list[str], **variables: str) -> str:
    """Return what a child with exit code 7 writes to its stderr."""
    child = start(command, stderr=subprocess.PIPE, variables=variables)
    assert child.stderr is not None
    assert child.wait(TIMEOUT_S) == 7
    with child.stderr:
        return child.stderr.read().decode()


def _is_zombie(pid: int) -> bool:
    """Return whether a process is a zombie."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a module that a child process can import as ``work``."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path / "work.py"


def outcome(*arguments: str) -> tuple[int, str]:
    """Return exit code and standard error of the module's child process."""
    process = child_process.start(python_command("work", *arguments), stderr=subprocess.PIPE)
    _, errors = process.communicate(timeout=250)
    return process.returncode, errors.decode()


def test_it_runs_main_with_the_arguments(work: Path) -> None:
    work.write_text("def main(arguments): return len(arguments)")
    assert outcome("a", "b") == (2, "")


def test_a_missing_python_module_is_one_sentence(work: Path) -> None:
    work.write_text("import absent_bridge.images\ndef main(arguments): return 0")
    code, errors = outcome()
    assert code == CANNOT_RUN_HERE
    assert errors.startswith("Python module 'absent_bridge' is not installed; install the ")
    assert errors.count("\n") == 1


def test_a_missing_module_of_the_package_itself_is_a_traceback(work: Path) -> None:
    work.write_text("import mujoco_ros.absent\ndef main(arguments): return 0")
    code, errors = outcome()
    assert code == 1
    assert "Traceback" in errors


def test_a_missing_python_module_is_reported_once(
    work: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work.write_text("import absent_bridge\ndef main(arguments): return 0")
    process = ManagedProcess(
        "cameras",
        partial(fork, "work", connection=1),
        memoryview(bytearray(8)).cast("d"),
        forward=bytes,
    )
    process.start(time.monotonic())
    deadline = time.monotonic() + 60
    while process.pid is not None:
        assert time.monotonic() < deadline
        process.check(time.monotonic())
        time.sleep(0.01)
    process.check(time.monotonic() + 3600)
    assert process.starts == 1
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "child process 'cameras' is not available: Python module 'absent_bridge'" in caplog.text
    process.end(0.0)
