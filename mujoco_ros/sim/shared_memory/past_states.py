"""The past states of a simulation: a ring of rows in the shared memory of its model."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.state_log.row_format import RowRing

_LARGEST = 64 << 20  # most memory of the rows of a model [bytes]
_FEWEST = 2  # least rows: the oldest one may be overwritten at any moment
_ROUNDING_S = 1e-9


@dataclass(frozen=True, kw_only=True, slots=True)
class HistorySettings:
    """Which past states are kept."""

    length: float = 0.0  # span of simulated time [s]; 0 keeps none
    rate: float = 50.0  # states per simulated second [Hz]; fewer if all would not fit into 64 MiB

    def __post_init__(self) -> None:
        """Reject a span of too few states."""
        if self.length > 0.0 and int(self.length * self.rate) < _FEWEST:
            raise UserInputError(
                f"history_length {self.length:g} s with history_rate {self.rate:g} Hz keeps fewer "
                f"than {_FEWEST} past states; increase one, or set history_length to 0 to keep none"
            )

    def capacity(self, row: int) -> int:
        """Return the number of rows of `row` words; 0 if none are kept."""
        rows = min(int(self.length * self.rate), _LARGEST // (8 * row))
        return rows if rows >= _FEWEST else 0

    def period(self, row: int) -> float:
        """Return the simulated time between two rows of `row` words [s]."""
        capacity = self.capacity(row)
        return self.length / capacity if capacity else float("inf")


class PastState(NamedTuple):
    """A past state."""

    number: int  # sequence number of its row
    time: float  # simulated time [s]


class PastStates(RowRing):
    """The ring, whose rows begin with the time [s]; its capacity is 0 if none are kept."""

    def __init__(self, rows: np.ndarray, counter: "memoryview[int]") -> None:
        super().__init__(rows, counter)
        self._listed, self._list = -1, (np.empty(0, np.int64), np.empty(0))

    @property
    def times(self) -> np.ndarray:
        """Simulated times of the states, oldest first, strictly increasing [s].  # (n,)

        States that are not earlier than a later row, after a reset or a return, are left out.
        """
        return self._states()[1]

    def find(self, time: float) -> PastState | None:
        """Return the last state not later than `time` [s], or the oldest; None without any."""
        numbers, times = self._states()
        if not len(times):
            return None
        at = max(int(np.searchsorted(times, time + _ROUNDING_S, side="right")) - 1, 0)
        return PastState(int(numbers[at]), float(times[at]))

    def find_not_later(self, time: float) -> PastState:
        """Return the last state not later than `time` [s], or raise `UserInputError`."""
        found = self.find(time)
        if found is None:
            raise UserInputError("there is no past state yet")
        if found.time > time + _ROUNDING_S:
            raise UserInputError(
                f"there is no past state of {time:.6f} s or before: "
                f"they are of {found.time:.6f} s to {self.times[-1]:.6f} s"
            )
        return found

    def after(self, number: int) -> list[int]:
        """Return the numbers of the rows of `times` that are larger than `number`."""
        numbers = self._states()[0]
        return [int(later) for later in numbers[np.searchsorted(numbers, number, side="right") :]]

    def span(self, start: float, end: float) -> np.ndarray:
        """Return a copy of the rows from one time to another [s], oldest first.  # (n, words)"""
        numbers, times = self._states()
        numbers = numbers[(start <= times) & (times <= end)]
        rows = self.rows[numbers % self.capacity] if len(numbers) else self.rows[:0]
        return rows[self.added - numbers < self.capacity]

    def copy(self, number: int, row: memoryview) -> bool:
        """Copy the beginning of a row with a sequence number; return whether it was still there."""
        first = number % self.capacity * self._stride
        row[:] = self._bytes[first : first + len(row)]
        return self.added - number < self.capacity

    def _states(self) -> tuple[np.ndarray, np.ndarray]:
        added = self.added
        if added != self._listed:
            # The oldest row may be overwritten at this moment.
            numbers = np.arange(max(added - self.capacity + 1, 0), added)
            times = self.rows[numbers % self.capacity, 0] if len(numbers) else np.empty(0)
            later = np.minimum.accumulate(times[::-1])[::-1]
            is_valid = np.append(times[:-1] < later[1:], True)[: len(times)]
            self._listed, self._list = added, (numbers[is_valid], times[is_valid])
        return self._list
