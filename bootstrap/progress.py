"""Progress of the set-up on the terminal, and its log."""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path
from typing import IO

HEARTBEAT_S = 30.0  # where lines cannot be overwritten, as in continuous integration


class SetupError(Exception):
    """An error that the user can resolve; shown without a traceback."""


class Log:
    """Progress on the terminal, all output in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None
        self._live = sys.stdout.isatty()
        self._lock = threading.Lock()
        self._last_heartbeat = 0.0

    def line(self, text: str) -> None:
        """Print a permanent line."""
        with self._lock:
            print(("\r\033[K" if self._live else "") + text, flush=True)
            self._last_heartbeat = 0.0

    def status(self, head: str, elapsed_s: float, detail: str) -> None:
        """Overwrite the current line of a terminal; elsewhere print a line every HEARTBEAT_S."""
        text = f"{head:<28}{elapsed_s:6.1f} s  {detail}"
        with self._lock:
            if self._live:
                width = shutil.get_terminal_size().columns - 1
                print("\r\033[K" + text[:width], end="", flush=True)
            elif elapsed_s - self._last_heartbeat > HEARTBEAT_S:
                self._last_heartbeat = elapsed_s
                print(text, flush=True)

    def write(self, text: str) -> None:
        """Write to the file only, which the first write truncates."""
        with self._lock:
            if self._file is None:
                self._file = self.path.open("w", encoding="utf-8", errors="replace")
            self._file.write(text)
            self._file.flush()
