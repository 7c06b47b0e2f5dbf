"""Transitions between states, and the record of those that were made."""

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from threading import Lock

_CAPACITY = 10_000


class Trigger(StrEnum):
    """The condition of a transition; the first three as in mc_rtc."""

    AUTO = "auto"  # made as soon as the state has the outcome
    STEP_BY_STEP = "step_by_step"  # as AUTO, but needs a request in step-by-step mode
    STRICT = "strict"  # always needs a request
    REQUEST = "request"  # not an outcome of the state: made on request while the state runs


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """A transition from one simple or parallel state to another.

    Attributes:
        id: Number in the table, from 1 on; 0 for an error, a reset, a pause or its end.
        label: The outcome or the request.
        start: State before the transition.
        goal: State after the transition.
        trigger: Condition of the transition.
        failure: Whether the outcome is a failure.
    """

    id: int
    label: str
    start: str
    goal: str
    trigger: Trigger = Trigger.AUTO
    failure: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TransitionEvent:
    """A transition that was made.

    Attributes:
        number: Position in the log, from 1 on.
        time: Time of the tick in which the goal state started [s].
        transition: The transition.
        reason: Why it was made.
    """

    number: int
    time: float
    transition: Transition
    reason: str


class TransitionLog:
    """The one record of the transitions of a controller; any thread may read it.

    Each reader passes the number of the last event that it has read.

    Attributes:
        count: Number of events since the start; the newest 10,000 are kept.
    """

    def __init__(self) -> None:
        self.count = 0
        self._events: deque[TransitionEvent] = deque(maxlen=_CAPACITY)
        self._lock = Lock()

    def record(self, transition: Transition, *, time: float, reason: str = "") -> None:
        """Append a transition that was made at `time` [s]."""
        with self._lock:
            self.count += 1
            self._events.append(
                TransitionEvent(number=self.count, time=time, transition=transition, reason=reason)
            )

    def since(self, number: int) -> list[TransitionEvent]:
        """Return the events after the one with `number`, oldest first."""
        with self._lock:
            kept = len(self._events)
            return list(islice(self._events, max(0, kept - (self.count - number)), kept))


class TransitionRejectedError(ValueError):
    """A requested transition is not available; the message lists the available ones."""
