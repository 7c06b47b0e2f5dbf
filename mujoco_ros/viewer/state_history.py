"""The history of a state machine: in which state it was, for how long, and why."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

from mujoco_ros.viewer.clients import ControllerInfo


@dataclass(frozen=True, kw_only=True, slots=True)
class StatePeriod:
    """A time in which a state machine was in one state, on the clock of its node [s]."""

    state: str
    begin: float | None  # None before the first known transition
    end: float | None  # None while it lasts, or if the time was set back
    label: str = ""  # the transition that led to it
    reason: str = ""  # why that was made
    is_present: bool = False  # whether it lasts

    def duration(self, now: float) -> float | None:
        """Return how long it has lasted [s]; None if that is unknown."""
        end = now if self.is_present else self.end
        if self.begin is None or end is None or end < self.begin:
            return None
        return end - self.begin


def state_periods(controller: ControllerInfo) -> tuple[StatePeriod, ...]:
    """Return the states that a controller has been in, oldest first."""
    events = controller.events
    if not events:
        present = StatePeriod(state=controller.state, begin=None, end=None, is_present=True)
        return (replace(present, reason=controller.reason),) if controller.state else ()
    first, made = events[0]
    periods = [StatePeriod(state=made.start, begin=None, end=first)]
    for (begin, made), following in zip_longest(events, events[1:]):
        end = following[0] if following is not None and following[0] >= begin else None
        periods.append(
            StatePeriod(state=made.goal, begin=begin, end=end, label=made.label, reason=made.reason)
        )
    present = replace(periods[-1], state=controller.state, is_present=True)
    return (*periods[:-1], replace(present, reason=controller.reason))


def recent_periods(controller: ControllerInfo, low: float, high: float) -> Iterator[StatePeriod]:
    """Yield the periods of a span of time [s], without those before the time was set back."""
    found: list[StatePeriod] = []
    for period in state_periods(controller):
        if found and period.begin is not None and found[-1].end is None:
            found.clear()
        found.append(period)
    for period in found:
        begins_late = period.begin is not None and period.begin > high
        ends_early = not period.is_present and (period.end is None or period.end < low)
        if not (begins_late or ends_early):
            yield period
