"""Which messages of a robot are ticks of its controller, and messages that were lost."""

from enum import Enum

from mujoco_ros.controllers.ros.node.observation_source import TopicObservationSource
from mujoco_ros.controllers.runtime.ticks import NANOSECONDS

_SLOW = 0.75  # part of a period; if messages are further apart, each of them is a tick
_SMOOTHING = 0.1
_NEAREST = 0.49
"""Part of the message interval; a message this much before a multiple is nearest to it.

With one half, the result would depend on rounding errors."""
_ROUNDING = 1e-6  # part of a period


_MAX_VOID = 3  # messages of before a reset that arrive after its report; subscriptions hold one


class Due(Enum):
    """The action for a message with a new stamp."""

    NOTHING = "nothing"
    TICK = "tick"
    BEGIN = "begin"  # a tick after a restart of the controller
    LEAP = "leap"  # as BEGIN, after a gap in the stamps


class Ticker:
    """Selects the messages nearest to the multiples of a period as ticks; exact for simulators."""

    def __init__(self, period: float, timeout: float, *, exact: bool = False) -> None:
        """Restart at the next message and after gaps of `timeout` [s]; `exact` rounds nothing."""
        self.ticks = self.missed = 0  # periods without a message
        # Difference of the time between two ticks from the period, smoothed [s]
        self.interval = self.unevenness = 0.0  # time between two messages, smoothed [s]
        self.timeout = timeout
        self._period, self._exact = period, exact
        self._last: float | None = None  # message [s]
        self._tick = 0.0  # last one [s]
        self.is_reset, self._reset, self._count = False, 0, 0

    def action(self, stamp: int) -> Due:
        """Return the action for a message with a stamp [ns]."""
        now, last = stamp / NANOSECONDS, self._last
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

    def expect(self, stamp: int, count: int) -> None:
        """Restart at the first tick after a reset to a stamp [ns]; `count` is of the one before."""
        self.is_reset, self._reset, self._count = True, stamp, count
        self._last = None

    def is_void(self, stamp: int, count: int) -> bool:
        """Return whether a message, by stamp [ns] and number, is from before the reset."""
        if self.is_reset and count > self._count:
            is_first = -1 <= stamp - self._reset <= round(self._period * NANOSECONDS) + 1
            # Whether the first tick after a reset in lockstep has not been received yet
            self.is_reset = not is_first and count - self._count <= _MAX_VOID
        return self.is_reset

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


_RENEW_S, _LONGEST_RENEW_S = 0.3, 10.0
"""Wall time after which messages that a stopped clock has sent count as lost.

It doubles with each attempt, because a simulator may be paused for hours."""


class LostMessages:
    """Renews subscriptions, to which a simulator whose clock waits sends the tick's messages."""

    def __init__(self, observations: TopicObservationSource) -> None:
        self._observations = observations
        self._stamp: int | None = None
        self._renew_at, self._interval = 0.0, _RENEW_S

    def poll(self, now: float, *, every: bool = False) -> tuple[str, ...]:
        """Return the topics that are incomplete, or else `every` one; renew them after a while."""
        observations = self._observations
        stamp = -1 if every else observations.stamp
        if stamp is None:
            return ()
        topics = observations.topics if every else observations.incomplete
        if stamp != self._stamp or not topics:
            self._stamp, self._interval = stamp, _RENEW_S
            self._renew_at = now + _RENEW_S
        elif now > self._renew_at:
            self._interval = min(2.0 * self._interval, _LONGEST_RENEW_S)
            self._renew_at = now + self._interval
            observations.renew(topics)
        return topics
