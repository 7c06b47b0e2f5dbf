"""One process that is watched over and started anew."""

import contextlib
import logging
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mujoco_ros.sim.shared_memory.header import SharedHeader
from mujoco_ros.sim.shared_memory.reader import PATIENCE_S

CANNOT_RUN_HERE = 3
"""Exit code of who need not be started again: it would end in the same way."""
START_S = 120.0
"""For so long may a process take until it is heard of first."""
SOON_S = 5.0
"""Who ends within so long of its start was started in vain."""
DELAYS_S = (0.0, 0.0, 0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""How long to wait before starting a process anew, by how often in a row that was in vain."""

_HELD_UP_S = 0.4
_KILLED_S = 5.0
_MANY = 1 << 16
_MOST_READS = 16
"""Who never stops writing shall not hold up all else that is done in this thread."""
_SIGNALS = {number.value: number.name for number in signal.Signals}
_LOG = logging.getLogger(__name__)


def waited_for_processor(pid: int) -> float:
    """Return for how long a process could have run, but others did (its first thread) [s].

    0 where the system does not tell.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class ManagedProcess:
    """A process that is started anew when it ends otherwise than on purpose, or hangs.

    Attributes:
        name: What it is called.
        starts: How often it was started.
        trouble: Why it does not run; empty while it does, and when it has ended on purpose.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        head: SharedHeader,
        seat: int,
        *,
        environment: Mapping[str, str],
        say: Callable[[bytes], object],
    ) -> None:
        """Prepare it.

        Args:
            name: What it is called.
            command: The program and its arguments.
            head: Where it is heard of.
            seat: Its seat there.
            environment: Its environment variables.
            say: Handed what it writes to its standard error, as it comes.
        """
        self.name = name
        self.starts = 0
        self.trouble = ""
        self._command, self._environment = list(command), dict(environment)
        self._head, self._seat, self._say = head, seat, say
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at: float | None = None
        self._started_at = self._looked_at = 0.0
        self._vain = 0
        self._promise = self._waited_s = 0.0
        self._hung = False
        self._said = b""

    @property
    def pid(self) -> int | None:
        """Its process, if it runs."""
        return None if self._process is None else self._process.pid

    def start(self, now: float) -> None:
        """Start it.

        Args:
            now: Monotonic wall time [s].
        """
        self._start_at, self._started_at = None, now
        self._looked_at = now
        self.starts += 1
        self._said, self._hung = b"", False
        self._head.promise(self._seat, now + START_S)
        # Ctrl-C is for the simulator alone, which ends its companions. What is blocked stays so in
        # the process that is started, from its very beginning; here it is only put off.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            self._fail(f"it cannot be started: {error.strerror}", now)
            return
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self.trouble = ""
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)

    def look(self, now: float) -> None:
        """See how it is, and start it anew if that is due; to be called several times a second.

        Args:
            now: Monotonic wall time [s].
        """
        held_up = now - self._looked_at > _HELD_UP_S
        self._looked_at = now
        if self._process is None:
            if self._start_at is not None and now >= self._start_at:
                self.start(now)
            return
        code = self._process.poll()
        self._hear(self._process)  # after that: why it ended is the last thing it writes
        if code is not None:
            self._note_end(code, now)
        elif held_up:
            # Who was stopped together with the simulator, or waited for the processor as long as
            # it did, needs time to be heard of again.
            self._head.promise(self._seat, max(self._head.promised(self._seat), now + PATIENCE_S))
        elif now > self._patient_until(self._process.pid) and not self._hung:
            self._hung = True
            self._process.kill()

    def ask_to_end(self) -> None:
        """Have it end, for good."""
        self._start_at = None
        if self._process is not None:
            self._process.terminate()

    def end(self, patience_s: float) -> None:
        """Wait for its end so long, or else kill it."""
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            # What hangs in a driver of the kernel is not even ended by that.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_KILLED_S)
        self._hear(process)
        assert process.stderr is not None
        process.stderr.close()

    def _patient_until(self, pid: int) -> float:
        """Return when it is too late for it to be heard of (monotonic time [s]).

        As long as others had the processor, it could do nothing about its promise.
        """
        promise, waited_s = self._head.promised(self._seat), waited_for_processor(pid)
        if promise != self._promise:
            self._promise, self._waited_s = promise, waited_s
        return promise + waited_s - self._waited_s

    def _hear(self, process: "subprocess.Popen[bytes]") -> None:
        """Pass on what it wrote."""
        assert process.stderr is not None
        with contextlib.suppress(BlockingIOError):  # there is no more for now
            for _ in range(_MOST_READS):
                if not (heard := os.read(process.stderr.fileno(), _MANY)):
                    break
                self._say(heard)
                self._said = (self._said + heard)[-_MANY:]

    def _note_end(self, code: int, now: float) -> None:
        process, self._process = self._process, None
        assert process is not None
        assert process.stderr is not None
        process.stderr.close()
        if code == 0:
            _LOG.info("the companion '%s' ended", self.name)
        elif code == CANNOT_RUN_HERE:
            self.trouble = self._last_words() or "it cannot run here"
            _LOG.error("there is no companion '%s': %s", self.name, self.trouble)
        else:
            self._fail(self._reason(code), now)

    def _reason(self, code: int) -> str:
        if self._hung:
            return "it hung"
        if code < 0:
            return f"it was ended by {_SIGNALS.get(-code, f'signal {-code}')}"
        words = self._last_words()
        return f"it ended with exit code {code}" + (f": {words}" if words else "")

    def _last_words(self) -> str:
        lines = self._said.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _fail(self, reason: str, now: float) -> None:
        """Have it started anew, the later the more often that was in vain."""
        self._vain = self._vain + 1 if now - self._started_at < SOON_S else 0
        delay = DELAYS_S[min(self._vain, len(DELAYS_S) - 1)]
        self._start_at = now + delay
        when = f"in {delay:g} s" if delay else "at once"
        self.trouble = f"{reason}; it is started anew {when}"
        _LOG.warning("companion '%s': %s", self.name, self.trouble)
