"""What is said about commands that are refused, changed or taken over, without flooding the log."""

import time
from collections.abc import Callable

from mujoco_ros.control.joints import Clamped

_QUIET_S = 5.0
"""For so long the same message is only counted."""
_MOST = 20
"""So many different messages are logged in that time, of one kind and topic."""


class RejectionLog:
    """Logs what goes wrong with commands, and counts it for /diagnostics.

    Attributes:
        counts: How often, by topic and kind of problem, since the start.
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        """Log by `log`."""
        self._log = log
        self.counts: dict[str, int] = {}
        self._said: dict[tuple[str, str], dict[str, float]] = {}
        self._unsaid: dict[tuple[str, str], int] = {}

    def tell_clamped(self, topic: str, clamped: Clamped) -> None:
        """Report positions that were moved into the joints' limits, if any were."""
        if clamped.count:
            self.report(topic, "positions clamped", clamped.text, count=clamped.count)

    def report(
        self, topic: str, kind: str, message: str, *, detail: str = "", count: int = 1
    ) -> None:
        """Count a problem, and log it unless the same, or too much, was logged just before.

        Args:
            topic: The topic or action.
            kind: What kind of problem, as /diagnostics shows it.
            message: What exactly.
            detail: What to log behind it that makes it no other message, as a time does not.
            count: How often it occurred.
        """
        key = f"{kind} on {topic}"
        self.counts[key] = self.counts.get(key, 0) + count
        where, now = (topic, kind), time.monotonic()
        said = self._said.setdefault(where, {})
        for old in [text for text, when in said.items() if now - when > _QUIET_S]:
            del said[old]
        if message in said or len(said) >= _MOST:
            self._unsaid[where] = self._unsaid.get(where, 0) + 1
            return
        said[message] = now
        before = self._unsaid.pop(where, 0)
        more = f" ({before} more before this)" if before else ""
        self._log(f"{topic}: {message}{detail}{more}")
