"""Status lines on standard error, and keys that are pressed in the terminal; needs no ROS."""

import os
import select
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

_FIRST_S = 2.0
"""Time without a line until the first one; quick programs report nothing."""
_NEXT_S = 8.0
_TERMINAL_S = 1.0
"""Period with which the line in a terminal is replaced."""


class StatusLines:
    """Reports the present work from a thread: after 2 s, then every 8 s; in a terminal each 1 s."""

    def __init__(
        self, program: str, stream: TextIO, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin, without a thread; `now` returns the wall time [s]."""
        self.text = "loading"  # the present work
        self._program, self._stream, self._now = program, stream, now
        self._is_terminal = stream.isatty()
        self._is_line_open = False
        self._began = now()
        self._due = self._began + _FIRST_S
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="status lines", daemon=True)

    def start(self) -> None:
        """Report from a thread until `end`."""
        self._thread.start()

    def check(self) -> None:
        """Write a line if one is due."""
        if self._now() >= self._due:
            self.write(f"{self.text}, {self._now() - self._began:.0f} s")

    def write(self, text: str) -> None:
        """Write a line now."""
        begin, end = ("\r", "\x1b[K") if self._is_terminal else ("", "\n")
        self._due = self._now() + (_TERMINAL_S if self._is_terminal else _NEXT_S)
        self._is_line_open = self._is_terminal
        show(self._stream, f"{begin}{self._program}: {text}{end}")

    def end(self) -> None:
        """Write no more lines."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._is_line_open:
            show(self._stream, "\n")

    def _run(self) -> None:
        while not self._ended.wait(0.1):
            self.check()


_lines: StatusLines | None = None


def begin(program: str) -> None:
    """Report what this process does from now on."""
    global _lines
    _lines = StatusLines(program, sys.stderr)
    _lines.start()


def end() -> None:
    """Report no more."""
    global _lines
    if _lines is not None:
        _lines.end()
    _lines = None


def report(text: str) -> None:
    """Set what this process does."""
    if _lines is not None:
        _lines.text = text


def write(text: str, program: str) -> None:
    """Set what this process does, and write it now; `program` names one that does not report."""
    report(text)
    (_lines or StatusLines(program, sys.stderr)).write(text)


class TerminalKeys:
    """Reads keys without Enter while its context lasts; none without a terminal."""

    def __init__(self) -> None:
        self.available = False  # whether there is a terminal, with this process in its foreground
        self._before: list[Any] = []

    def __enter__(self) -> "TerminalKeys":
        with suppress(OSError, ValueError, AttributeError):  # no standard input, or a closed one
            self._input = sys.stdin.fileno()
            # Another process group would be stopped by the terminal.
            if sys.stdin.isatty() and os.tcgetpgrp(self._input) == os.getpgrp():
                self._before = termios.tcgetattr(self._input)
                tty.setcbreak(self._input)
                self.available = True
        return self

    def __exit__(self, *_error: object) -> None:
        if self.available:
            self.available = False
            with suppress(OSError, termios.error):  # the terminal is closed
                termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """Return the keys since the last call."""
        if not self.available or not select.select([self._input], [], [], 0.0)[0]:
            return ""
        with suppress(OSError):  # the terminal is closed
            return os.read(self._input, 64).decode(errors="ignore")
        return ""


def show(stream: TextIO, text: str) -> None:
    """Write text at once, unless the stream or its terminal is closed."""
    with suppress(OSError, ValueError):
        stream.write(text)
        stream.flush()
