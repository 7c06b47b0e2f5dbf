"""What is said about commands that are refused, changed or taken over, without flooding the log."""

import time
from collections.abc import Callable

_QUIET_S = 5.0
"""For so long the same thing is only counted."""


class Refusals:
    """Logs what goes wrong with commands, and counts it for /diagnostics.

    Attributes:
        counts: How often, by topic and kind of problem, since the start.
    """

    def __init__(self, log: Callable[[str], object]) -> None:
        """Log by `log`."""
        self._log = log
        self.counts: dict[str, int] = {}
        self._said: dict[tuple[str, str], tuple[float, int]] = {}

    def report(self, topic: str, kind: str, message: str, *, count: int = 1) -> None:
        """Count a problem, and log it unless the same kind was logged just before.

        Args:
            topic: The topic or action.
            kind: What kind of problem, as /diagnostics shows it.
            message: What exactly.
            count: How often it occurred.
        """
        key = f"{kind} on {topic}"
        self.counts[key] = self.counts.get(key, 0) + count
        now = time.monotonic()
        last, before = self._said.get((topic, kind), (-_QUIET_S, 0))
        if now - last < _QUIET_S:
            self._said[topic, kind] = (last, before + 1)
            return
        more = f" ({before} more before this)" if before else ""
        self._said[topic, kind] = (now, 0)
        self._log(f"{topic}: {message}{more}")
