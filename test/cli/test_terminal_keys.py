"""Keys of a terminal, in a process of its own."""

import os
import pty
import sys

from mujoco_ros.cli.terminal_keys import TerminalKeys

PROGRAM = """
import termios, time
from mujoco_ros.cli.terminal_keys import TerminalKeys
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
from mujoco_ros.cli.terminal_keys import TerminalKeys, show
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
