"""Ticks of a controller that take more wall time than there is."""

import logging

_LOG = logging.getLogger(__name__)
_LOG_INTERVAL_S = 10.0


class SlowTicks:
    """Counts the real time that is lost by slow ticks, and names the state in the log.

    All times are wall times.
    """

    def __init__(self, controller: str) -> None:
        """Count for a controller, by name."""
        self._controller = controller
        self._logged: dict[str, float] = {}
        self._lost_s = self._total_s = self._longest_s = 0.0
        self._state = ""
        self._count = 0

    def add(self, state: str, cost_s: float, limit_s: float, now: float) -> None:
        """Register a tick.

        Args:
            state: The active state.
            cost_s: Time of the tick [s].
            limit_s: Time from which on the simulation, or the robot, does not wait for it [s].
            now: Monotonic time [s].
        """
        if cost_s <= limit_s:
            return
        self._count += 1
        self._lost_s += cost_s - limit_s
        self._total_s += cost_s - limit_s
        if cost_s > self._longest_s:
            self._longest_s, self._state = cost_s, state
        if now - self._logged.get(state, -_LOG_INTERVAL_S) >= _LOG_INTERVAL_S:
            self._logged[state] = now
            _LOG.warning(
                "controller '%s': a tick in state '%s' took %.1f ms, and more than %.1f ms lose "
                "real time; a longer computation belongs into a future (context.awaited)",
                *(self._controller, state, 1e3 * cost_s, 1e3 * limit_s),
            )

    def complaint(self) -> str:
        """Return what was lost since the last call; empty if nothing."""
        count, lost, longest, state = self._count, self._lost_s, self._longest_s, self._state
        self._count, self._lost_s, self._longest_s, self._state = 0, 0.0, 0.0, ""
        if not count:
            return ""
        return (
            f"{count} slow ticks in state '{state}', of up to {1e3 * longest:.1f} ms, lost "
            f"{lost:.2f} s of real time"
        )

    @property
    def total_s(self) -> float:
        """Lost real time since the start [s]."""
        return self._total_s
