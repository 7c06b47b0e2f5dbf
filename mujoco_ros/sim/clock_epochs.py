"""What was stamped before a reset of the simulation, and means nothing after it."""

from collections import deque

_IN_FLIGHT_S = 1.0
"""For so long may something be on its way, and a trajectory start ahead of its sending."""
NANOSECOND = 1e-9
"""One [s]; stamps count them."""
_ROUNDING_S = NANOSECOND
_KEPT = 16


class ClockEpochs:
    """Tells stamps of before the last reset from those of after it.

    That is plain where the clock goes on. Where it was set back, a stamp that is still to come is
    from before the reset if it says when something was sent. If it says when something starts, it
    may be meant: shortly after a reset, it belongs to whichever is nearer, the time that is now or
    that at which the clock was set back.
    """

    def __init__(self) -> None:
        """Begin without a reset."""
        self._begin = -float("inf")
        self._ends: deque[float] = deque(maxlen=_KEPT)

    def begin(self, before: float, after: float) -> None:
        """Note a reset, which set the time from `before` to `after` [s]."""
        if before - self._begin > _IN_FLIGHT_S:
            self._ends.clear()  # what was sent before the last reset has come by now
        if after < before:
            self._ends.append(before)
        self._begin = after

    def problem(self, stamp: float, now: float, *, starts: bool = False) -> str:
        """Return why something stamped means nothing any more; empty if it does.

        Args:
            stamp: Its stamp, in simulated time [s].
            now: The simulated time [s].
            starts: Whether the stamp is the time at which it is to start, not that of sending.
        """
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
