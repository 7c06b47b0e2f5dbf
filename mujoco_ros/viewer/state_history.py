"""The history of a state machine: in which state it was, for how long, and why."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
        if not controller.state:
            return ()
        return (_present(controller, None),)
    first_time, first = events[0]
    periods = [StatePeriod(state=first.start, begin=None, end=first_time)]
    for (time, made), (next_time, _) in pairwise(events):
        periods.append(
            StatePeriod(
                state=made.goal,
                begin=time,
                end=next_time if next_time >= time else None,
                label=made.label,
                reason=made.reason,
            )
        )
    last_time, last = events[-1]
    periods.append(_present(controller, last_time, last.label))
    return tuple(periods)


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


def _present(controller: ControllerInfo, begin: float | None, label: str = "") -> StatePeriod:
    return StatePeriod(
        state=controller.state,
        begin=begin,
        end=None,
        label=label,
        reason=controller.reason,
        is_present=True,
    )
