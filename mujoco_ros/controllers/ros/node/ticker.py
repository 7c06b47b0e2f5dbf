"""When a controller beside a robot ticks: by the robot's stamps, never by a clock."""

from enum import Enum

_NS = 1_000_000_000
_SLOW = 0.75
"""Of a period: where messages are further apart, each of them is a tick."""
_SMOOTHING = 0.1
_NEAREST = 0.49
"""Of the time between two messages: who is so much before a multiple is nearest to it.

Not a half, as then it would be a matter of rounding."""
_ROUNDING = 1e-6
"""Of a period."""


class Due(Enum):
    """What a message with a new stamp is."""

    NOTHING = "nothing"
    TICK = "tick"
    BEGIN = "begin"  # a tick, before which the controller begins anew
    LEAP = "leap"  # as BEGIN: too much time has passed without a message


class Ticker:
    """Finds the messages that are ticks: those nearest to the multiples of a period.

    A robot that stamps in whole periods, as a simulator does, is answered at exactly these.

    Attributes:
        ticks: How many there were.
        missed: Periods that went by without a message.
        interval: Time between two messages, smoothed [s].
    """

    def __init__(self, period: float, timeout: float, *, exact: bool = False) -> None:
        """Begin with the next message.

        Args:
            period: Time between two ticks [s].
            timeout: Stamps that are further apart make the controller begin anew [s].
            exact: Whether only multiples of the period are ticks.
        """
        self.ticks = self.missed = 0
        self.interval = 0.0
        self.timeout = timeout
        self._period, self._exact = period, exact
        self._last: float | None = None  # message [s]
        self._tick = 0.0  # last one [s]

    def take(self, stamp: int) -> Due:
        """Tell what the message of a stamp [ns] is."""
        now, last = stamp / _NS, self._last
        if self._exact and not self.fits(now):
            return Due.NOTHING
        if last is None or now < last:
            return self._begin(now, Due.BEGIN)
        gap = now - last
        if gap > self.timeout:
            return self._begin(now, Due.LEAP)
        if gap == 0.0:
            return Due.NOTHING
        self._last = now
        self.interval += (gap - self.interval) * (_SMOOTHING if self.interval else 1.0)
        if not self._is_tick(now):
            return Due.NOTHING
        self.missed += max(0, round((now - self._tick) / self._period) - 1)
        self._tick = now
        self.ticks += 1
        return Due.TICK

    def fits(self, time: float) -> bool:
        """Return whether a time [s] is a multiple of the period."""
        periods = time / self._period
        return abs(periods - round(periods)) < _ROUNDING

    def _is_tick(self, now: float) -> bool:
        period = self._period
        if self._exact or self.interval > _SLOW * period:
            return True
        early = _NEAREST * self.interval
        return (now + early) // period > (self._tick + early) // period

    def _begin(self, now: float, due: Due) -> Due:
        self._last = self._tick = now
        self.interval = 0.0
        self.ticks += 1
        return due
