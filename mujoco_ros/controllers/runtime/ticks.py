"""Ticks of a controller: their time, their cost, and real time that is lost by slow ones."""

import logging
from dataclasses import dataclass

from mujoco_ros.sim.stepping.real_time import Histogram

_LOG = logging.getLogger(__name__)

NANOSECONDS = 1_000_000_000
"""In a second; stamps are whole numbers of nanoseconds."""
_ROUNDING_NS = 1.0
TIME_LIMIT_S = 2.0
"""Default limit of the wall time of a call of a state's method [s]."""


def tick_time(stamp: int, period: float) -> float:
    """Return the time of a tick [s]: its number times the period, without errors of rounding.

    A stamp that is no multiple of the period, as a real robot has, is the time itself.
    """
    time = stamp / NANOSECONDS
    multiple = round(time / period) * period
    return multiple if abs(multiple * NANOSECONDS - stamp) <= _ROUNDING_NS else time


def stamp_of(time: float) -> int:
    """Return the stamp of a simulated time [ns], as the messages of the simulator have it."""
    return round(time * NANOSECONDS)


_LOG_INTERVAL_S = 10.0
_LONG_WAIT_S = 3.0  # wait for a result from which on it is reported, at first
_LONGEST_POLL_S = 0.1
"""Part of a wait between two of its polls that counts; there are none during a pause."""
_LEAST_S = 0.03
"""Loss from which on it is reported; a loaded machine delays single ticks by some milliseconds."""


@dataclass(slots=True)
class _Loss:
    """Slow ticks of one state since the last report."""

    ticks: int = 0
    lost_s: float = 0.0
    longest_s: float = 0.0

    def add(self, cost_s: float, lost_s: float) -> None:
        self.ticks += 1
        self.lost_s += lost_s
        self.longest_s = max(self.longest_s, cost_s)

    def describe(self, state: str) -> str:
        return (
            f"{self.ticks} slow ticks in state '{state}', of up to {1e3 * self.longest_s:.0f} ms, "
            f"lost {1e3 * self.lost_s:.0f} ms of real time"
        )


class TickCosts:
    """Wall time of ticks, and the real time that slow ones lose; names their state in the log."""

    def __init__(self, controller: str) -> None:
        self.total_s, self._costs = 0.0, Histogram()
        self._controller = controller
        self._logged_at: dict[str, float] = {}
        self._unlogged: dict[str, _Loss] = {}
        self._unreported: dict[str, _Loss] = {}

    def add(self, state: str, cost_s: float, limit_s: float, now: float) -> None:
        """Count a tick of `cost_s`, which loses real time beyond `limit_s`; `now` is monotonic."""
        self._costs.add(cost_s)
        lost = cost_s - limit_s
        if lost <= 0.0:
            return
        self.total_s += lost
        self._unreported.setdefault(state, _Loss()).add(cost_s, lost)
        loss = self._unlogged.setdefault(state, _Loss())
        loss.add(cost_s, lost)
        logged_at = self._logged_at.get(state, -_LOG_INTERVAL_S)
        if loss.lost_s >= _LEAST_S and now - logged_at >= _LOG_INTERVAL_S:
            self._logged_at[state] = now
            del self._unlogged[state]
            _LOG.warning(
                "controller '%s': %s; a longer computation belongs into a future (awaited)",
                *(self._controller, loss.describe(state)),
            )

    def values(self) -> dict[str, str]:
        """Return the values for /diagnostics; percentiles are of the ticks since the last call."""
        p50, p99 = self._costs.percentiles(50, 99)
        self._costs.clear()
        return {
            "tick cost p50 [us]": f"{1e6 * p50:.0f}",
            "tick cost p99 [us]": f"{1e6 * p99:.0f}",
            "real time lost by ticks [s]": f"{self.total_s:.3f}",
        }

    def complaint(self) -> str:
        """Return what was lost since the last call; empty if it is little."""
        losses, self._unreported = self._unreported, {}
        return "; ".join(
            loss.describe(state) for state, loss in list(losses.items()) if loss.lost_s >= _LEAST_S
        )


class LongWait:
    """Logs that the clock waits for a result: after 3 s, and whenever `spent_s` has doubled."""

    def __init__(self, controller: str) -> None:
        self.is_running, self.spent_s = False, 0.0
        self._controller = controller
        self._polled_at = 0.0
        self._next_s = _LONG_WAIT_S

    def poll(self, state: str, now: float) -> None:
        """Continue the wait of a state, at a monotonic time [s]."""
        if self.is_running:
            self.spent_s += min(now - self._polled_at, _LONGEST_POLL_S)
        self.is_running, self._polled_at = True, now
        if self.spent_s >= self._next_s:
            self._next_s *= 2.0
            _LOG.warning(
                "controller '%s': the clock is stopped: state '%s' has awaited a result, such as "
                "a plan or an image, for %.0f s",
                *(self._controller, state, self.spent_s),
            )

    def end(self) -> None:
        """End the wait."""
        if self._next_s > _LONG_WAIT_S:
            _LOG.info("controller '%s': the clock continues", self._controller)
        self.is_running, self.spent_s, self._next_s = False, 0.0, _LONG_WAIT_S
