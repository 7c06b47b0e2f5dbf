"""A supervised child process, restarted when it fails or misses its heartbeat."""

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from mujoco_ros.process import child_process
from mujoco_ros.process.child_process import Process
from mujoco_ros.process.heartbeat import TIMEOUT_S

START_S = 120.0
"""Longest time from the start of a process to its first heartbeat."""
EARLY_S = 5.0
"""A process that ends this soon after its start has failed to start."""
DELAYS_S = (0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Time until a restart, by how many starts in a row have failed."""

_FRESH_S = 0.5  # time after a heartbeat that counts as processor time, which is then not read
BUSY_S = 60.0
"""Longest processor time beyond the deadline of a heartbeat, which ends endless loops."""
_SUSPENDED_S = 0.4  # time between two checks that only a suspended or overloaded machine explains
_READ_SIZE = 1 << 16
_MAX_READS = 16  # limit per check: a process that never stops writing must not block the caller
_LOG = logging.getLogger(__name__)


def processor_times(pid: int) -> tuple[float, float]:
    """Return processor time of a process, and its first thread's wait for one [s]; 0 if unknown."""
    used = waited = 0.0
    with suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        waited = int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    return used, waited


@dataclass(eq=False)
class ManagedProcess:
    """A child process that is restarted when it fails, or misses its heartbeat deadline."""

    name: str  # name in log messages
    begin: Callable[[], Process]  # starts the program, whose standard error is a pipe
    # One word that the process shares: when its next heartbeat is due [monotonic s]
    deadline: "memoryview[float]"
    _: KW_ONLY
    forward: Callable[[bytes], object]  # called with each piece of the process's standard error
    starts: int = field(default=0, init=False)  # number of starts
    # Why the process does not run; empty while it runs, or if it ended as intended
    trouble: str = field(default="", init=False)

    def __post_init__(self) -> None:
        self._process: Process | None = None
        self._start_at: float | None = None
        self._started_at = self._checked_at = self._last_deadline = self._beat_at = 0.0
        self._times: tuple[float, float] | None = None
        self._failed_starts, self._hung, self._output = 0, False, b""

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return None if self._process is None else self._process.pid

    def start(self, now: float) -> None:
        """Start the process at `now` [monotonic s], in a thread that ends with this program."""
        self._start_at, self._started_at, self._checked_at = None, now, now
        self.starts += 1
        self._output, self._hung = b"", False
        self.deadline[0] = now + START_S
        try:
            self._process = self.begin()
        except OSError as error:
            self._fail(f"cannot be started: {error.strerror}", now)
            return
        self.trouble = ""
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)

    def check(self, now: float) -> None:
        """Check the process and restart it when that is due; call this several times a second."""
        suspended = now - self._checked_at > _SUSPENDED_S
        self._checked_at = now
        if self._process is None:
            if self._start_at is not None and now >= self._start_at:
                self.start(now)
            return
        code = self._process.poll()
        self._read_output(self._process)  # after the poll: the last line has the reason
        if code is not None:
            self._handle_end(code, now)
        elif suspended:
            # The process was probably suspended as well and needs time for its next heartbeat.
            self.deadline[0] = max(self.deadline[0], now + TIMEOUT_S)
        elif not self._hung and self._is_overdue(now, self._process.pid):
            self._hung = True
            self._process.kill()

    def terminate(self) -> None:
        """Request the end of the process, without a restart."""
        self._start_at = None
        if self._process is not None:
            self._process.terminate()

    def end(self, timeout_s: float) -> None:
        """Wait for the end of the process, and kill it after the timeout."""
        process, self._process = self._process, None
        if process is None:
            return
        child_process.end(process, timeout_s)
        self._read_output(process)
        assert process.stderr is not None
        process.stderr.close()

    def _is_overdue(self, now: float, pid: int) -> bool:
        """Return whether the deadline is over, later by the time in which it worked or could not.

        A process that computes is slow; one that neither computes nor waits for a processor hangs.
        """
        deadline = self.deadline[0]
        if deadline != self._last_deadline:
            self._last_deadline, self._beat_at, self._times = deadline, now, None
        if now - self._beat_at < _FRESH_S:
            return False
        times = processor_times(pid)
        self._times = before = self._times or times
        used, waited = (time - earlier for time, earlier in zip(times, before, strict=True))
        return now > deadline + _FRESH_S + min(used, BUSY_S) + waited

    def _read_output(self, process: Process) -> None:
        assert process.stderr is not None
        with suppress(BlockingIOError):  # no more for now
            for _ in range(_MAX_READS):
                if not (output := os.read(process.stderr.fileno(), _READ_SIZE)):
                    break
                self.forward(output)
                self._output = (self._output + output)[-_READ_SIZE:]

    def _handle_end(self, code: int, now: float) -> None:
        process, self._process = self._process, None
        assert process is not None
        assert process.stderr is not None
        process.stderr.close()
        if code == 0:
            _LOG.info("child process '%s' ended", self.name)
        elif code == child_process.CANNOT_RUN_HERE:
            self.trouble = self._last_line() or "cannot run here"
            _LOG.error("child process '%s' is not available: %s", self.name, self.trouble)
        else:
            line = self._last_line() if code > 0 else ""
            reason = "missed its heartbeat" if self._hung else child_process.exit_reason(code)
            self._fail(f"{reason}: {line}" if line else reason, now)

    def _last_line(self) -> str:
        lines = self._output.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _fail(self, reason: str, now: float) -> None:
        """Schedule a restart, later with each start that failed."""
        failed_early = now - self._started_at < EARLY_S
        self._failed_starts = self._failed_starts + 1 if failed_early else 0
        delay = DELAYS_S[min(self._failed_starts, len(DELAYS_S) - 1)]
        self._start_at = now + delay
        self.trouble = f"{reason}; restart {f'in {delay:g} s' if delay else 'now'}"
        _LOG.warning("child process '%s': %s", self.name, self.trouble)
