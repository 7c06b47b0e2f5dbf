"""Detection of stamps from before a reset of the simulation."""

from collections import deque

_FARTHEST_START_S = 86_400.0
"""Longest time until a trajectory starts: a stamp of the wall clock is decades ahead."""
_IN_FLIGHT_S = 1.0
"""Longest time for which a message is in flight, and a trajectory starts after it was sent."""
NANOSECOND = 1e-9
"""One nanosecond [s], the unit of stamps."""
_ROUNDING_S = NANOSECOND
_KEPT = 16
_LABEL, _DIGITS = "epoch ", 8


def epoch_label(number: int) -> str:
    """Return the ``header.frame_id`` of ticks of an epoch: all have the same length."""
    return f"{_LABEL}{number % 10**_DIGITS:0{_DIGITS}}"


def epoch_of(frame_id: str) -> int | None:
    """Return the number of the epoch that a ``header.frame_id`` names; None if it names none."""
    digits = frame_id.removeprefix(_LABEL)
    return int(digits) if digits != frame_id and digits.isdecimal() else None


class ClockEpochs:
    """Distinguishes stamps from before the last reset from those after it.

    Where the clock continues, that is a comparison. Where it was set back, a stamp in the future is
    from before the reset if it is the time of sending. If it is a start time, it may be valid:
    shortly after a reset, it belongs to the nearer one of the current time and the time at which
    the clock was set back.
    """

    def __init__(self) -> None:
        self.number = 0
        """Number of resets so far."""
        self._begin = -float("inf")
        self._ends: deque[float] = deque(maxlen=_KEPT)

    def begin(self, before: float, after: float) -> None:
        """Register a reset, which set the time from `before` to `after` [s]."""
        self.number += 1
        if before - self._begin > _IN_FLIGHT_S:
            self._ends.clear()  # messages from before the last reset have arrived by now
        if after < before:
            self._ends.append(before)
        self._begin = after

    def problem(self, stamp: float, now: float, *, starts: bool = False) -> str:
        """Return why a stamp is from before a reset, or a start too far ahead; empty if neither.

        The stamp and `now` are simulated times [s]. With `starts`, the stamp is a start time,
        rather than the time of sending.
        """
        if starts and stamp - now > _FARTHEST_START_S:
            return (
                f"starts at {stamp:.6f} s, more than a day after the simulated time {now:.6f} s; "
                "does its sender use the simulated time?"
            )
        if stamp < self._begin - _ROUNDING_S:
            return f"stamped {stamp:.6f} s, before the simulation was reset at {self._begin:.6f} s"
        fresh = now - self._begin <= _IN_FLIGHT_S
        for end in self._ends:
            ahead, off = stamp - now, abs(stamp - end)
            nearer = fresh and off < ahead
            if starts:
                past = nearer and off <= _IN_FLIGHT_S
            else:
                past = stamp <= end + _ROUNDING_S and (nearer or ahead > _IN_FLIGHT_S)
            if past:
                return (
                    f"stamped {stamp:.6f} s, before the simulation was reset and its time set back "
                    f"from {end:.6f} s"
                )
        return ""
