"""Lines that report what a program does, and programs that are interrupted while they import."""

import itertools
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from io import StringIO
from pathlib import Path

import pytest

from mujoco_ros.cli.terminal import StatusLines, TerminalKeys, write

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 250.0


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def written(stream: StringIO, seconds: int, **texts: str) -> list[str]:
    """Return the lines of a program that takes so long, with its work from a second on."""
    clock = Clock()
    lines = StatusLines("fit", stream, clock)
    for tenth in range(10 * seconds):
        clock.time = 100.0 + 0.1 * tenth
        lines.text = texts.get(f"at_{tenth // 10}", lines.text)
        lines.check()
    lines.end()
    return stream.getvalue().splitlines()


def test_a_quick_program_reports_nothing():
    assert written(StringIO(), 2) == []


def test_the_first_line_is_within_three_seconds_and_the_others_within_ten():
    lines = written(StringIO(), 30, at_5="reading", at_25="writing")
    assert [it.rpartition(",")[0] for it in lines] == [
        "fit: loading",
        *["fit: reading"] * 2,
        "fit: writing",
    ]
    times = [0, *(int(re.findall(r"(\d+) s$", it)[0]) for it in lines), 30]
    assert times[1] < 3
    assert max(after - before for before, after in itertools.pairwise(times)) < 10


def test_a_line_of_the_program_itself_replaces_the_next_one():
    clock, stream = Clock(), StringIO()
    lines = StatusLines("fit", stream, clock)
    clock.time += 1.9
    lines.write("found")
    clock.time += 7.9
    lines.check()
    assert stream.getvalue() == "fit: found\n"


def test_a_terminal_has_one_line_that_is_replaced():
    stream = Terminal()
    written(stream, 10)
    assert stream.getvalue().count("\r") == 8
    assert stream.getvalue().count("\n") == 1


def test_a_closed_stream_is_no_error():
    stream = StringIO()
    lines = StatusLines("fit", stream)
    stream.close()
    lines.write("found")
    lines.end()


@pytest.mark.parametrize(("module", "code"), [("evaluate", -signal.SIGINT), ("record", 0)])
def test_ctrl_c_ends_a_program_that_imports_its_modules_without_a_traceback(module, code):
    program = subprocess.Popen(
        [sys.executable, "-v", "-m", f"mujoco_ros.cli.{module}", "walk"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert program.stderr is not None
    for line in program.stderr:
        if line.startswith("import 'mujoco_ros.cli'"):
            break
    program.send_signal(signal.SIGINT)
    _, rest = program.communicate(timeout=TIMEOUT_S)
    assert program.returncode == code
    assert "Traceback" not in rest


def test_another_program_that_imports_the_package_keeps_its_handler():
    code = "import signal, mujoco_ros.cli.terminal as it; print(signal.getsignal(signal.SIGINT)"
    code += " is signal.default_int_handler, it._lines)"
    command = [sys.executable, "-c", code, "record"]
    assert subprocess.check_output(command, cwd=ROOT, text=True) == "True None\n"


class Slow(StringIO):
    """A stream that a thread writes to while the result is written."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_continue = threading.Event(), threading.Event()

    def write(self, text: str) -> int:
        self.begun.set()
        assert self.may_continue.wait(TIMEOUT_S)
        return super().write(text)


def test_a_line_that_is_being_written_comes_before_the_result():
    stream, clock = Slow(), Clock()
    lines = StatusLines("fit", stream, clock)
    clock.time += 3.0
    lines.start()
    assert stream.begun.wait(TIMEOUT_S)
    threading.Timer(0.1, stream.may_continue.set).start()
    lines.end()
    assert stream.getvalue() == "fit: loading, 3 s\n"


def test_a_process_that_does_not_report_writes_lines_with_its_name(capsys):
    write("2 of 3 are done", "evaluate")
    assert capsys.readouterr().err == "evaluate: 2 of 3 are done\n"


def test_a_tool_that_is_interrupted_has_one_line(tmp_path):
    script = tmp_path / "hangs.py"
    script.write_text(
        "import time\nfrom mujoco_ros.cli.command_line import report_errors\n"
        "raise SystemExit(report_errors(lambda: print('ready', flush=True) or time.sleep(600)))\n"
    )
    program = subprocess.Popen(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "ready\n"
    program.send_signal(signal.SIGINT)
    _, error = program.communicate(timeout=TIMEOUT_S)
    assert (program.returncode, error) == (130, "mujoco_ros: error: interrupted\n")


PROGRAM = """
import termios, time
from mujoco_ros.cli.terminal import TerminalKeys
before = termios.tcgetattr(0)
with TerminalKeys() as keys:
    print("ready", keys.available, flush=True)
    found = ""
    while not found.endswith("e"):
        found += keys.read()
        time.sleep(0.01)
print("read", found, termios.tcgetattr(0) == before, flush=True)
"""

CLOSED = """
import logging, pathlib, signal, sys, time
from mujoco_ros.cli.terminal import TerminalKeys, show
signals = []
signal.signal(signal.SIGHUP, lambda *_: signals.append(1))
with TerminalKeys() as keys:
    print("ready", keys.available, flush=True)
    while not signals:
        time.sleep(0.01)
    for _ in range(3):
        keys.read()
        logging.warning("it ends")
        show(sys.stderr, "progress")
show(sys.stdout, "written")
pathlib.Path(sys.argv[1]).touch()
"""


def _until(terminal: int, text: bytes) -> bytes:
    found = b""
    while text not in found:
        found += os.read(terminal, 1024)
    return found


def _started(program: str, *arguments: str) -> tuple[int, int]:
    """Start a program in a terminal; return process and terminal."""
    process, terminal = pty.fork()
    if process == 0:
        try:
            os.execv(sys.executable, [sys.executable, "-c", program, *arguments])
        finally:
            os._exit(1)
    return process, terminal


def test_a_program_continues_when_its_terminal_is_closed(tmp_path) -> None:
    process, terminal = _started(CLOSED, str(tmp_path / "ended"))
    _until(terminal, b"ready True\r\n")  # all of it: a cut line would be an error
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert (tmp_path / "ended").exists()


def test_keys_are_read_without_enter_and_the_terminal_is_restored() -> None:
    process, terminal = _started(PROGRAM)
    try:
        _until(terminal, b"ready True")
        os.write(terminal, b"sde")
        _until(terminal, b"read sde True")
    finally:
        os.waitpid(process, 0)
        os.close(terminal)


def test_without_a_terminal_there_are_no_keys(monkeypatch) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with TerminalKeys() as keys:
            assert not keys.available
            assert keys.read() == ""
    monkeypatch.setattr(sys, "stdin", None)
    with TerminalKeys() as keys:
        assert keys.read() == ""
