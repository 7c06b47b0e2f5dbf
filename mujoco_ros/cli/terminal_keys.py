"""Keys that are pressed in the terminal."""

import os
import select
import sys
import termios
import tty
from contextlib import suppress
from typing import Any, TextIO


class TerminalKeys:
    """Reads keys without Enter while its context lasts; none without a terminal.

    Attributes:
        available: Whether there is a terminal, with this process in its foreground.
    """

    def __init__(self) -> None:
        """Leave the terminal as it is."""
        self.available = False
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
    """Write text at once, unless the terminal is closed."""
    with suppress(OSError):
        stream.write(text)
        stream.flush()
