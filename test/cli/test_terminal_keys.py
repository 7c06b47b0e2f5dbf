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


def _until(terminal: int, text: bytes) -> bytes:
    found = b""
    while text not in found:
        found += os.read(terminal, 1024)
    return found


def test_keys_are_read_without_enter_and_the_terminal_is_restored() -> None:
    process, terminal = pty.fork()
    if process == 0:
        try:
            os.execv(sys.executable, [sys.executable, "-c", PROGRAM])
        finally:
            os._exit(1)
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
