"""How often, and when last, each of several sources sent a command."""

from typing import NamedTuple


class CommandTally(NamedTuple):
    """What was heard of one source.

    Attributes:
        source: Its name.
        rate: Commands a second of simulated time, since the last report [Hz].
        age: Simulated time since its newest command [s].
    """

    source: str
    rate: float
    age: float


class CommandRates:
    """Counts commands by their source; times are simulated [s]."""

    def __init__(self) -> None:
        """Have heard nobody yet."""
        self._counts: dict[str, int] = {}
        self._newest: dict[str, float] = {}

    def note(self, source: str, time: float) -> None:
        """Count a command that takes effect at `time`."""
        self._counts[source] = self._counts.get(source, 0) + 1
        self._newest[source] = time

    def report(self, time: float, elapsed: float) -> tuple[CommandTally, ...]:
        """Return what was heard of each source in the time `elapsed`, and begin to count anew."""
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
        """Forget everybody."""
        self._counts.clear()
        self._newest.clear()
