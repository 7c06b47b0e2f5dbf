"""Rate of commands and age of the newest one, for each command source."""

from typing import NamedTuple


class CommandTally(NamedTuple):
    """Commands of one source.

    Attributes:
        source: Its name.
        rate: Commands per second of simulated time since the last report [Hz].
        age: Simulated time since its newest command [s].
    """

    source: str
    rate: float
    age: float


class CommandRates:
    """Counts commands by source; times are simulated [s]."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._newest: dict[str, float] = {}

    def add(self, source: str, time: float) -> None:
        """Count a command that takes effect at `time`."""
        self._counts[source] = self._counts.get(source, 0) + 1
        self._newest[source] = time

    def report(self, time: float, elapsed: float) -> tuple[CommandTally, ...]:
        """Return the tally of each source over the last `elapsed` seconds, and reset the counts."""
        tallies = tuple(
            CommandTally(
                source=source,
                rate=self._counts.get(source, 0) / elapsed if elapsed > 0 else 0.0,
                age=max(0.0, time - newest),
            )
            for source, newest in self._newest.items()
        )
        self._counts.clear()
        return tallies

    def clear(self) -> None:
        """Remove all sources."""
        self._counts.clear()
        self._newest.clear()
