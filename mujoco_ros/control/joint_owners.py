"""Which command source owns a joint, and how often each source commands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from mujoco_ros.control.events import CommandSource


class CommandTally(NamedTuple):
    """Commands of one source."""

    source: str
    rate: float  # commands per second of simulated time since the last report [Hz]
    age: float  # simulated time since its newest command [s]


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


_SOURCES = tuple(CommandSource)
_CODES = {source: code for code, source in enumerate(_SOURCES)}


class JointOwner(Protocol):
    """A command source that can own joints."""

    def is_idle(self, joints: np.ndarray, time: float) -> bool:
        """Return whether its command of `joints` is complete."""

    def release(self, joints: np.ndarray, reason: str) -> None:
        """Release `joints`; a goal that needs them ends for that `reason`."""

    def save_state(self) -> Any:
        """Return a copy of its state without goals."""

    def restore_state(self, state: Any) -> None:
        """Continue from a saved state."""


@dataclass(frozen=True, kw_only=True)
class ControlState:
    """State of a robot's command arbitration, without goals."""

    sources: dict[CommandSource, Any]
    owners: np.ndarray
    damped: np.ndarray
    reset_hold: dict[str, Any]


class JointOwners:
    """The owner of each joint of a robot; all joints are unclaimed at first."""

    def __init__(self, count: int) -> None:
        self._codes = np.zeros(count, dtype=np.intp)  # index into _SOURCES  # (n,)

    @property
    def unclaimed(self) -> np.ndarray:
        """Which joints have no owner.  # (n,) bool."""
        return np.equal(self._codes, _CODES[CommandSource.UNCLAIMED])

    def by_source(self) -> Iterator[tuple[CommandSource, np.ndarray]]:
        """Yield each source that owns joints, and the indices of those joints."""
        for code in sorted(set(self._codes.tolist())):
            yield _SOURCES[code], np.flatnonzero(self._codes == code)

    def joints_of(self, source: CommandSource) -> np.ndarray:
        """Return the indices of the joints that `source` owns."""
        return np.flatnonzero(self._codes == _CODES[source])

    def claim(
        self, source: CommandSource, joints: np.ndarray
    ) -> list[tuple[CommandSource, np.ndarray]]:
        """Make `source` the owner of joints; return the others with the joints that each lost."""
        before = self._codes[joints]
        others = before[before != _CODES[source]]
        if not len(others):  # the usual case, several times faster
            return []
        self._codes[joints] = _CODES[source]
        return [(_SOURCES[code], joints[before == code]) for code in np.unique(others)]

    def release(self, joints: np.ndarray | slice = slice(None)) -> None:
        """Leave `joints`, or all, without owner."""
        self._codes[joints] = _CODES[CommandSource.UNCLAIMED]

    def save_state(self) -> np.ndarray:
        """Return a copy of the owners, for `restore_state`."""
        return self._codes.copy()

    def restore_state(self, state: np.ndarray) -> None:
        """Restore saved owners."""
        self._codes[:] = state
