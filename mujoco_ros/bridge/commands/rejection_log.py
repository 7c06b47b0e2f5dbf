"""Log and counters of commands that are rejected, changed or preempted."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from mujoco_ros.control.events import CommandError
from mujoco_ros.control.joints import Clamped
from mujoco_ros.model.errors import UserInputError, shortened

_REPEAT_S = 5.0  # time in which a repeated message is only counted
_MOST_MESSAGES = 20
"""Number of different messages of one kind and topic that are logged in that time."""


class RejectionLog:
    """Logs problems with commands at a limited rate, and counts them for /diagnostics.

    Any thread may report.
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log
        self._lock = threading.Lock()
        self.counts: dict[str, int] = {}  # number of problems since the start, by kind and topic
        self._logged: dict[tuple[str, str], dict[str, float]] = {}
        self._suppressed: dict[tuple[str, str], int] = {}

    def refusing(self, topic: str, what: str = "") -> "_Refusal":
        """Return a context that reports an error of a message, which ends it."""
        return _Refusal(self, topic, what)

    def report_clamped(self, topic: str, clamped: Clamped) -> None:
        """Report positions that were clamped to the limits of joints, if any."""
        if clamped.count:
            self.report(topic, "positions clamped", clamped.text, count=clamped.count)

    def report(
        self, topic: str, kind: str, message: str, *, detail: str = "", count: int = 1
    ) -> None:
        """Count a problem, by its `kind` on /diagnostics; log it unless the same was logged
        recently.

        `detail`, as a time, follows in the log without making it a different message.
        """
        message = shortened(message)
        with self._lock:
            before = self._count(topic, kind, message, count)
        if before is not None:
            more = f" ({before} more before this)" if before else ""
            self._log(f"{topic}: {message}{detail}{more}")

    def _count(self, topic: str, kind: str, message: str, count: int) -> int | None:
        """Count a problem; return how many were not logged before it, None if it is not logged."""
        key = f"{kind} on {topic}"
        self.counts[key] = self.counts.get(key, 0) + count
        where, now = (topic, kind), time.monotonic()
        logged = self._logged.setdefault(where, {})
        for text in [text for text, when in logged.items() if now - when > _REPEAT_S]:
            del logged[text]
        if message in logged or len(logged) >= _MOST_MESSAGES:
            self._suppressed[where] = self._suppressed.get(where, 0) + 1
            return None
        logged[message] = now
        return self._suppressed.pop(where, 0)


@dataclass
class _Refusal:
    log: RejectionLog
    topic: str
    what: str

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        is_of_message = isinstance(error, CommandError | UserInputError)
        if is_of_message:
            self.log.report(self.topic, "refused", f"{self.what}{error}")
        return is_of_message
