"""Ticks of a controller, timed by the robot's stamps instead of a clock."""

from enum import Enum

_NS = 1_000_000_000
_SLOW = 0.75
"""Part of a period; if messages are further apart, each of them is a tick."""
_SMOOTHING = 0.1
_NEAREST = 0.49
"""Part of the message interval; a message this much before a multiple is nearest to it.

With one half, the result would depend on rounding errors."""
_ROUNDING = 1e-6
"""Part of a period."""


class Due(Enum):
    """The action for a message with a new stamp."""

    NOTHING = "nothing"
    TICK = "tick"
    BEGIN = "begin"  # a tick after a restart of the controller
    LEAP = "leap"  # as BEGIN, after a gap in the stamps


class Ticker:
    """Selects the messages nearest to the multiples of a period as ticks.

    Ticks are exact for a robot that stamps at multiples of the period, as a simulator does.

    Attributes:
        ticks: Number of ticks.
        missed: Periods without a message.
        interval: Time between two messages, smoothed [s].
        unevenness: Difference of the time between two ticks from the period, smoothed [s].
    """

    def __init__(self, period: float, timeout: float, *, exact: bool = False) -> None:
        """Create a ticker; the next message restarts the controller.

        Args:
            period: Time between two ticks [s].
            timeout: Gap between two stamps after which the controller restarts [s].
            exact: Whether only exact multiples of the period are ticks.
        """
        self.ticks = self.missed = 0
        self.interval = self.unevenness = 0.0
        self.timeout = timeout
        self._period, self._exact = period, exact
        self._last: float | None = None  # message [s]
        self._tick = 0.0  # last one [s]

    def take(self, stamp: int) -> Due:
        """Return the action for a message with a stamp [ns]."""
        now, last = stamp / _NS, self._last
        if self._exact and not self.is_multiple(now):
            return Due.NOTHING
        if last is None or now < last:
            return self._restart(now, Due.BEGIN)
        gap = now - last
        if gap > self.timeout:
            return self._restart(now, Due.LEAP)
        if gap == 0.0:
            return Due.NOTHING
        self._last = now
        self.interval += (gap - self.interval) * (_SMOOTHING if self.interval else 1.0)
        if not self._is_tick(now):
            return Due.NOTHING
        self.missed += max(0, round((now - self._tick) / self._period) - 1)
        difference = abs(now - self._tick - self._period)
        self.unevenness += _SMOOTHING * (difference - self.unevenness)
        self._tick = now
        self.ticks += 1
        return Due.TICK

    def restart(self) -> None:
        """Make the next message restart the controller."""
        self._last = None

    def is_multiple(self, time: float) -> bool:
        """Return whether a time [s] is a multiple of the period."""
        periods = time / self._period
        # As for the host in the simulator, periods may be that much longer than the steps of one.
        return abs(periods - round(periods)) < _ROUNDING * max(1.0, periods)

    def _is_tick(self, now: float) -> bool:
        period = self._period
        if self._exact or self.interval > _SLOW * period:
            return True
        early = _NEAREST * self.interval
        return (now + early) // period > (self._tick + early) // period

    def _restart(self, now: float, due: Due) -> Due:
        self._last = self._tick = now
        self.interval = self.unevenness = 0.0
        self.ticks += 1
        return due
